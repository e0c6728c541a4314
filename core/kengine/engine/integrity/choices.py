"""Are the kernels that an emulator ran those that a chip's compiler was given?

A candidate that asks who runs it can have the emulator run a right kernel and the chip another one. Both sides say
what their kernels are called and with which constants they were built; the emulator says that it is that very chip, so
that nothing honest depends on the difference.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from kengine.model import Artifact, Check, JsonValue, Target

KEY = "choices"
"""Entry of details, of a launch and of a compile: JSON. By name, for each value how often and in how many calls it was
met (a list of values alone will do), and under `calls` how many of these there were."""
NAME = "same kernels"
_KERNEL = "kernel"
_CODE = "code of "
_CALLS = "calls"
_SAMPLES = 16
"""Most calls of which a compile sees the constants."""
_NUMBER = re.compile(r"-?[0-9][0-9.e+-]*\Z")
_VARYING = (
    "a constant of a kernel must not depend on who runs it, nor on a clock, a process or anything else that differs "
    "from run to run"
)


@dataclass(frozen=True)
class _Side:
    """values: by name, for each value how often it was met and in how many calls; 0 where that was not said."""

    values: Mapping[str, Mapping[str, tuple[int, int]]]
    calls: int


def compare(
    launched: Mapping[str, JsonValue], artifacts: Sequence[Artifact], companions: Sequence[Target]
) -> Check | None:
    """Hold what was launched against what was compiled for a target that the emulator stands for.

    None where one of them says nothing. A name counts when it had one value here and another one there, or several of
    which none is met on the other side; of several that are flags one is enough that comes in every call and never on
    the other side, so that a launch of both hides neither. Sizes may follow from the contents of inputs, which are not
    the same on both sides. Names of kernels count when none that was launched was compiled.
    """
    here = _read(launched.get(KEY))
    found = None
    for artifact in artifacts:
        there = _read(artifact.details.get(KEY))
        if artifact.target not in companions or not here.values or not there.values.get(_KERNEL):
            continue
        found = Check(NAME, True, True, f"the same names and constants as compiled for {artifact.target}")
        for name in sorted(here.values.keys() & there.values.keys()):
            if _apart(name, here, there):
                ours, theirs = frozenset(here.values[name]), frozenset(there.values[name])
                return Check(NAME, True, False, _describe(name, ours, theirs, artifact.target))
    return found


def _apart(name: str, here: _Side, there: _Side) -> bool:
    ours, theirs = here.values[name], there.values[name]
    disjoint = not ours.keys() & theirs.keys()
    if name == _KERNEL:
        return disjoint
    if len(ours) == len(theirs) == 1:
        return disjoint
    if not _are_flags(ours.keys() | theirs.keys()):
        return False
    calls = here.calls
    always_here = {v for v, (_, met) in ours.items() if 0 < calls <= met}
    # A compile is one call to whoever counts there.
    always_there = {v for v, (times, _) in theirs.items() if 0 < min(calls, _SAMPLES) <= times}
    return disjoint or bool(always_here - theirs.keys() or always_there - ours.keys())


def _are_flags(values: Set[str]) -> bool:
    """Whether values choose a way rather than a size: anything but numbers, or 0 and 1 alone."""
    return values <= {"0", "1"} or not all(_NUMBER.match(value) for value in values)


def _describe(name: str, ours: frozenset[str], theirs: frozenset[str], target: Target) -> str:
    if name.startswith(_CODE):
        return f"{name.removeprefix(_CODE)} has other code in the emulator than on {target}: another kernel runs there"
    words = f"{name} is {_listed(ours)} in the emulator and {_listed(theirs)} on {target}"
    words += ": what was right here is another kernel there"
    return words if name == _KERNEL else f"{words}; {_VARYING}"


def _listed(values: frozenset[str]) -> str:
    return ", ".join(sorted(values)[:4])


def _read(value: JsonValue) -> _Side:
    """The values by name; nothing where this is none, since it comes from a process in which the candidate ran."""
    if not isinstance(value, str) or len(value) > 1 << 20:
        return _Side({}, 0)
    try:
        read = json.loads(value)
    except (ValueError, RecursionError):
        return _Side({}, 0)
    if not isinstance(read, dict):
        return _Side({}, 0)
    found = {
        str(name)[:120]: {str(v)[:200]: _counts(values[v] if isinstance(values, dict) else None) for v in values}
        for name, values in read.items()
        if isinstance(values, (list, dict))
    }
    calls = read.get(_CALLS)
    return _Side(found, calls if isinstance(calls, int) else 0)


def _counts(value: object) -> tuple[int, int]:
    if isinstance(value, list) and len(value) == 2 and all(type(n) is int for n in value):
        return value[0], value[1]
    return 0, 0
