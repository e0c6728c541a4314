"""The names and signatures of both NKI generations, as data; importing the interpreter is not needed for them."""

from __future__ import annotations

import difflib
import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

TABLE = Path(__file__).parent.parent / "sim" / "api.json"
HINTS = frozenset({"lazy_initialization", "name"})
"""Keywords that functions of the old compiler take besides their documented ones."""

NEWER = frozenset({"nki.isa.scalar_load", "nki.isa.scalar_store", "nki.language.NkiScalar"})
"""Names of releases after the table: known, without a signature."""

_OLD = "neuronxcc.nki"
_MODULES = frozenset({"isa", "language"})
_SPELT = {"isa": "nisa", "language": "nl", "": "nki"}


@dataclass(frozen=True)
class Signature:
    """One function. `positional` in order; `required` of positional and keyword-only ones; `open`: takes any number
    of positional arguments that are not listed; `hints`: takes the compiler hints `HINTS` as well.
    """

    positional: tuple[str, ...]
    keyword_only: tuple[str, ...]
    required: tuple[str, ...]
    open: bool
    hints: bool

    @property
    def names(self) -> tuple[str, ...]:
        """All parameters."""
        return self.positional + self.keyword_only


@dataclass(frozen=True)
class Name:
    """A dotted name taken apart: generation `new` (`nki`) or `old` (`neuronxcc.nki`), module `isa`, `language` or ""
    for the package itself, and the member, with dots for a member's member.
    """

    generation: str
    module: str
    member: str

    @property
    def short(self) -> str:
        """As kernels spell it: `nisa.dma_copy`, `nl.exp`, `nki.jit`."""
        return f"{_SPELT[self.module]}.{self.member}"


def split(dotted: str) -> Name | None:
    """Take a dotted name apart; None for names outside of NKI and for the modules themselves."""
    if dotted.startswith(_OLD + "."):
        generation, rest = "old", dotted[len(_OLD) + 1 :]
    elif dotted.startswith("nki."):
        generation, rest = "new", dotted[4:]
    else:
        return None
    head, _, tail = rest.partition(".")
    if head in _MODULES:
        return Name(generation, head, tail) if tail else None
    return Name(generation, "", rest)


@lru_cache(maxsize=1)
def load() -> dict[str, dict[str, dict[str, dict[str, object]]]]:
    """generation -> module -> name -> entry."""
    table: dict[str, dict[str, dict[str, dict[str, object]]]] = json.loads(TABLE.read_text(encoding="utf-8"))
    return table


@lru_cache(maxsize=1024)
def find_signature(generation: str, module: str, member: str) -> Signature | None:
    """The signature of a function of `isa` or `language`, None for what is none."""
    entry = load()[generation].get(module, {}).get(member)
    if entry is None or entry["kind"] != "function":
        return None
    positional, keyword_only = _strings(entry["params"]), _strings(entry["keyword_only"])
    hints = bool(entry.get("any_keyword"))
    return Signature(positional, keyword_only, _strings(entry["required"]), _is_open(generation, member), hints)


def _is_open(generation: str, member: str) -> bool:
    return generation == "old" and member in ("affine_range", "sequential_range", "static_range", "arange")


def _strings(value: object) -> tuple[str, ...]:
    return tuple(str(v) for v in value) if isinstance(value, list) else ()


def members(generation: str, module: str) -> tuple[str, ...]:
    """Public names of a module."""
    return tuple(n for n in load()[generation].get(module, {}) if not n.startswith("_"))


def class_members(generation: str, module: str, name: str) -> tuple[str, ...]:
    """Members of an enumeration or class, () when they are not listed. `tile_size` is one."""
    if name == "tile_size":
        new = _strings(load()["new"]["language"]["_TileSize"]["members"])
        return new if generation == "new" else (*new, *_strings(load()["old"]["language"]["tile_size"]["members"]))
    entry = load()[generation].get(module, {}).get(name)
    return _strings(entry.get("members")) if entry is not None and entry["kind"] == "class" else ()


def suggest(name: str, known: tuple[str, ...], otherwise: str = "") -> str:
    """`; did you mean a, b?` from near names, or `otherwise`."""
    near = difflib.get_close_matches(name, known, 3, 0.6)
    contained = [k for k in known if len(k) > 3 and (k in name or name in k) and k not in near]
    found = [*near, *contained][:3]
    return f"; did you mean {' or '.join(found)}?" if found else otherwise
