"""What a candidate's `# /// kengine` block may ask of the interpreter."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kengine.errors import CandidateFault
from kengine.model import Candidate, JsonValue

if TYPE_CHECKING:
    from kengine_nki.sim import Options

KEYS: Mapping[str, type] = {
    "chip": str,
    "strict": bool,
    "reverse_ranges": bool,
    "lnc": int,
    "instruction_budget": int,
}


@dataclass(frozen=True)
class Settings:
    """chip, lnc, strict and instruction_budget as `kengine_nki.sim.Options` has them; strict also makes a fault of
    what is only warned of otherwise. reverse_ranges: try independent iterations in both orders before the first launch.
    """

    options: Options = field(repr=False)
    reverse_ranges: bool = True


def read(candidate: Candidate) -> Settings:
    """Read a candidate's own keys. Raises CandidateFault (compile_failed) for a value that has no meaning.

    Keys that are none of these belong to others; one that is nearly one of these is taken for a slip.
    """
    from kengine_nki.sim import Options

    given: dict[str, JsonValue] = {}
    for key, value in candidate.options.items():
        if key in KEYS:
            if type(value) is not KEYS[key]:
                raise _fault(key, value, f"expected {_named(KEYS[key])}")
            given[key] = value
        elif near := difflib.get_close_matches(key, KEYS, 1, 0.8):
            raise CandidateFault("compile_failed", f"its block has the key {key!r}; did you mean {near[0]!r}?")
    reverse = bool(given.pop("reverse_ranges", True))
    try:
        options = Options(**given)  # type: ignore[arg-type]
    except ValueError as error:
        key = next((k for k in given if k in str(error)), "chip")
        raise _fault(key, given.get(key), str(error)) from None
    return Settings(options, reverse)


def _named(kind: type) -> str:
    return {str: "text", bool: "true or false", int: "a whole number"}[kind]


def _fault(key: str, value: JsonValue, expected: str) -> CandidateFault:
    return CandidateFault("compile_failed", f"its block has {key} = {value!r}: {expected}")
