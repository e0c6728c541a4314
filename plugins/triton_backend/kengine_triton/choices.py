"""With which constants a candidate's kernels were built, in whatever way: what differs between the emulator and a chip.

A kernel whose constants or name depend on who runs it is another kernel there, of which an answer here says nothing.
"""

from __future__ import annotations

import hashlib
import json
from types import CodeType, MemberDescriptorType
from typing import Any

MANY = 8
"""Values of one name beyond which it is a figure that changes from launch to launch, and no longer of interest."""
LONG = 80
CODE = "code of "
"""How names begin under which the code of a kernel is noted."""
_MANY_PARTS = 4096
_DEPTH = 4
_LIBRARIES = frozenset(("builtins", "triton", "kengine_triton", "torch", "numpy"))
"""Whose objects have no text of their own here: what they hold is not told to be the same in every process."""
CALLS = "calls"
"""The entry of a summary that says how many were made before it."""


class _Counts:
    """How often each value of each name was met, in how many calls, and which were met in the call under way."""

    def __init__(self) -> None:
        self.seen: dict[str, dict[str, list[int]]] = {}
        self.now: set[tuple[str, str]] = set()
        self.calls = 0


_counts = _Counts()


def forget() -> None:
    """Start with nothing seen."""
    global _counts
    _counts = _Counts()


def note(name: str, value: Any) -> None:
    """Add a value that a name had; those whose text is not the same in every process are left out."""
    text = _text(value)
    if text is None:
        return
    values = _counts.seen.setdefault(name, {})
    if text not in values and len(values) > MANY:
        return
    count = values.setdefault(text, [0, 0])
    count[0] += 1
    count[1] += (name, text) not in _counts.now
    _counts.now.add((name, text))


def note_global(name: str, value: Any) -> None:
    """Add what a kernel takes from outside: a constant, or a plain value of a module by its dotted name."""
    if type(value).__name__ == "constexpr" or ("." in name and type(value) in (bool, int, float, str, type(None))):
        note(f"global {name}", value)


def summary() -> str:
    """All names with their values in JSON, each with how often and in how many calls it was met; ends a call."""
    _counts.calls += 1
    _counts.now.clear()
    found = {name: dict(sorted(values.items())) for name, values in sorted(_counts.seen.items())}
    return json.dumps({CALLS: _counts.calls, **{name: values for name, values in found.items() if len(values) <= MANY}})


def note_code(name: str, fn: Any) -> None:
    """Add which code a kernel or a helper has, so that two of one name are told apart."""
    code = getattr(fn, "__code__", None)
    if isinstance(code, CodeType):
        note(f"{CODE}{name}", _digest(_code(code)))


def _text(value: Any, depth: int = 0) -> str | None:
    kind = type(value)
    if kind.__name__ == "constexpr":
        return _text(value.value, depth)
    if isinstance(value, (bool, int, float, str, type(None))):
        return _shorten(repr(value))
    if depth > _DEPTH:
        return None
    if isinstance(value, (tuple, list)) and len(value) <= _MANY_PARTS:
        parts = [_text(item, depth + 1) for item in value]
        return None if None in parts else _shorten(f"({', '.join(map(str, parts))})")
    name = getattr(getattr(value, "fn", None), "__name__", None)
    if isinstance(name, str):
        return _shorten(f"function {name}")
    if kind.__module__.split(".")[0] in _LIBRARIES or callable(value):
        return None
    fields = {str(k): _text(v, depth + 1) for k, v in _fields(value) if not str(k).startswith("__")}
    return _shorten(f"{kind.__name__}({', '.join(f'{k}={v}' for k, v in sorted(fields.items()) if v is not None)})")


def _fields(value: Any) -> list[tuple[str, Any]]:
    """What an object holds, by its own dictionary or its slots; no code of its class is asked."""
    try:
        held = object.__getattribute__(value, "__dict__")
    except AttributeError:
        held = {}
    found = list(held.items()) if isinstance(held, dict) else []
    for each in type(value).__mro__:
        slots = vars(each).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else tuple(slots):
            member = vars(each).get(name)
            if isinstance(member, MemberDescriptorType):
                try:
                    found.append((name, member.__get__(value)))
                except AttributeError:
                    continue
    return found[:_MANY_PARTS]


def _shorten(text: str) -> str:
    return text if len(text) <= LONG else f"{text[: LONG - 17]} ... {_digest(text)}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:12]


def _code(code: CodeType) -> str:
    """What a function does: its instructions, names and constants, and the same of the functions in it."""
    constants = [_code(c) if isinstance(c, CodeType) else repr(c) for c in code.co_consts]
    return repr((code.co_code, code.co_names, code.co_varnames, constants))
