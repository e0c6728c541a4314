"""With its kernels withheld the answer must go wrong: once with launches that do nothing, once with such that raise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from kengine.errors import CandidateFault
from kengine.model import Check, Launch, Mode

if TYPE_CHECKING:
    from kengine.engine.executions import Execution


def launched(launches: Sequence[Sequence[Launch]], empty: frozenset[int] = frozenset()) -> Check:
    """Every case must have launched a kernel that completed, but for those whose answer has no elements (`empty`)."""
    idle = sum(1 for case, seen in enumerate(launches) if not seen and case not in empty)
    if idle or not any(launches):
        idle = idle or len(launches)
        return Check("launched", True, False, f"no kernel was launched in {idle} of {len(launches)} cases")
    names = sorted({launch.kernel for seen in launches for launch in seen})
    return Check("launched", True, True, f"{sum(len(s) for s in launches)} launches of {', '.join(names)}")


def do_nothing(execution: Execution) -> Check:
    """Launches do nothing: a copy of the answer from elsewhere would still be right; on the first case, and on one of
    each other form, for which a candidate may take another way."""
    name = "launches do nothing"
    found = _knock_out(execution, Mode.noop, name)
    for case in sorted(execution.others):
        if not found.ok or execution.runner.ended:
            break
        other = _knock_out(execution, Mode.noop, name, case)
        if not other.ok and not _only_moves(execution, case):
            found = replace(other, evidence=f"{execution.task.cases[case].name}: {other.evidence}")
    return found


def refuse(execution: Execution) -> Check:
    """Launches raise: a fallback would still be right."""
    return _knock_out(execution, Mode.raises, "launches raise")


def _only_moves(execution: Execution, case: int) -> bool:
    """Whether the followed call on a case shows nothing that could have computed an answer but kernels: for some forms
    (a sum over one element) the answer is an input, and a kernel that works in place on a copy has nothing to do."""
    seen = [facts for number, facts in zip(execution.traced, execution.facts) if number == case and facts.followed]
    return bool(seen) and not any(
        facts.operators or facts.opaque or facts.exported_bytes or facts.array_bytes or facts.foreign_bytes
        for facts in seen
    )


def _knock_out(execution: Execution, mode: Mode, name: str, case: int = 0) -> Check:
    """Inputs are new, so nothing left in memory can be right: both times the same ones, to which no kernel has given
    an answer."""
    try:
        comparison, _, _ = execution.check(case, "without", mode)
    except CandidateFault as fault:
        if fault.status == "tampered":
            return Check(name, True, False, fault.message)
        return Check(name, True, True, f"without its kernel the candidate ends in {fault.status}")
    if comparison.ok:
        return Check(name, True, False, "the answer is right although no kernel ran: something else computes it")
    return Check(name, True, True, "without its kernel the answer is wrong, as it must be")
