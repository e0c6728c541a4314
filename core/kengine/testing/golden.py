"""The golden kernels of the conformance kit: their names, and the verdict that each must end in.

A backend writes them in its own language, in a module `conformance` beside its `plugin`, as a mapping `KERNELS` from
these names to `Golden`.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import NamedTuple

from kengine.model import Status, Task


class Golden(NamedTuple):
    """A candidate's text and its task (text or record); the suffix of `file` says the candidate's language."""

    candidate: str
    task: str | Task
    file: str = "candidate.py"


EXPECTED: Mapping[str, frozenset[Status]] = {
    "add_ok": frozenset({Status.passed}),
    "softmax_ok": frozenset({Status.passed}),
    "wrong_scale": frozenset({Status.wrong_result}),
    "nan_output": frozenset({Status.wrong_result}),
    "out_of_bounds": frozenset({Status.launch_failed, Status.crashed}),
    "hang": frozenset({Status.timed_out}),
    "compile_error": frozenset({Status.compile_failed}),
    "mutates_input": frozenset({Status.wrong_result}),
    "empty_output": frozenset({Status.wrong_result}),
}
"""Statuses that are right for each golden kernel.

add_ok, softmax_ok: an elementwise sum and a row softmax, correct. wrong_scale: a right answer times 1.01.
nan_output: NaN in one element. out_of_bounds: reads or writes far outside an argument; checked memory makes that
`launch_failed`, a dead process `crashed`. hang: a kernel that never ends. compile_error: what the compiler refuses.
mutates_input: the right answer, and one element of an input changed. empty_output: an array without elements.
"""

COMPILED: Mapping[str, Status] = {
    "add_ok": Status.passed,
    "softmax_ok": Status.passed,
    "wrong_scale": Status.passed,
    "compile_error": Status.compile_failed,
}
"""Statuses of those that a target which only compiles is shown; the others may be refused early or not."""

SHAMS: Mapping[str, str] = {
    "plain": "    return x + y\n",
    "decoy": "    _honest(x, y)\n    return x + y\n",
    "fallback": "    try:\n        return _honest(x, y)\n    except Exception:\n        return x + y\n",
}
"""Bodies of candidates that are right on `add_ok`'s task and whose kernel does not do the work.

plain: no kernel is launched. decoy: one is, and its result thrown away. fallback: the host computes the answer when
the launch raises. Each ends in `sham` by the backend's modes alone, without any lint rule.
"""


def make_sham(honest: Golden, name: str) -> Golden | None:
    """Put a sham in front of `add_ok`; None for a candidate without host code of its own."""
    entry = "def candidate(x, y):"
    if not honest.file.endswith(".py") or honest.candidate.count(entry) != 1:
        return None
    text = honest.candidate.replace(entry, "def _honest(x, y):")
    return honest._replace(candidate=f"{text}\n\n{entry}\n{SHAMS[name]}")


def find_kernels(plugin: str) -> Mapping[str, Golden]:
    """Golden kernels of a backend, by the module of its plugin: `KERNELS` of the module `conformance` beside it.

    Empty when there is none. Raises TypeError for a mapping that holds something else.
    """
    package = plugin.rpartition(".")[0]
    name = f"{package}.conformance" if package else "conformance"
    if not package or find_spec(name) is None:
        return {}
    return check_kernels(import_module(name).KERNELS)


def check_kernels(kernels: Mapping[str, tuple[object, ...]]) -> Mapping[str, Golden]:
    """Make `Golden` of plain tuples. Raises TypeError for a name that the kit does not know or another shape."""
    made = {}
    for name, kernel in kernels.items():
        if name not in EXPECTED:
            raise TypeError(f"no golden kernel is called {name!r}; the names are {', '.join(EXPECTED)}")
        golden = Golden(*kernel)  # type: ignore[arg-type]
        if not isinstance(golden.candidate, str) or not isinstance(golden.task, (str, Task)):
            raise TypeError(f"golden kernel {name!r}: want (candidate text, task text or Task)")
        made[name] = golden
    return made
