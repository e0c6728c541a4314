"""Are the kernels that an emulator ran those that a chip's compiler was given?

A candidate that asks who runs it can have the emulator run a right kernel and the chip another one. Both sides say
what their kernels are called and with which constants they were built; the emulator says that it is that very chip, so
that nothing honest depends on the difference.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from kengine.model import Artifact, Check, JsonValue, Target

KEY = "choices"
"""Entry of details, of a launch and of a compile: JSON, lists of values by name."""
NAME = "same kernels"
_KERNEL = "kernel"
_CODE = "code of "
_VARYING = (
    "a constant of a kernel must not depend on who runs it, nor on a clock, a process or anything else that differs "
    "from run to run"
)


def compare(
    launched: Mapping[str, JsonValue], artifacts: Sequence[Artifact], companions: Sequence[Target]
) -> Check | None:
    """Hold what was launched against what was compiled for a target that the emulator stands for.

    None where one of them says nothing. A name counts when it had one value here and another one there; names of
    kernels when none that was launched was compiled.
    """
    here = _read(launched.get(KEY))
    found = None
    for artifact in artifacts:
        there = _read(artifact.details.get(KEY))
        if artifact.target not in companions or not here or not there or not there.get(_KERNEL):
            continue
        found = Check(NAME, True, True, f"the same names and constants as compiled for {artifact.target}")
        for name in sorted(here.keys() & there.keys()):
            ours, theirs = here[name], there[name]
            apart = not ours & theirs
            if apart and (name == _KERNEL or len(ours) == len(theirs) == 1):
                return Check(NAME, True, False, _describe(name, ours, theirs, artifact.target))
    return found


def _describe(name: str, ours: frozenset[str], theirs: frozenset[str], target: Target) -> str:
    if name.startswith(_CODE):
        return f"{name.removeprefix(_CODE)} has other code in the emulator than on {target}: another kernel runs there"
    words = f"{name} is {_listed(ours)} in the emulator and {_listed(theirs)} on {target}"
    words += ": what was right here is another kernel there"
    return words if name == _KERNEL else f"{words}; {_VARYING}"


def _listed(values: frozenset[str]) -> str:
    return ", ".join(sorted(values)[:4])


def _read(value: JsonValue) -> dict[str, frozenset[str]]:
    """The lists by name; nothing where this is none, since it comes from a process in which the candidate ran."""
    if not isinstance(value, str) or len(value) > 1 << 20:
        return {}
    try:
        read = json.loads(value)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(read, dict):
        return {}
    return {
        str(name)[:120]: frozenset(str(v)[:200] for v in values)
        for name, values in read.items()
        if isinstance(values, list)
    }
