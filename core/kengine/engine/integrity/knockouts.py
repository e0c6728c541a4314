"""With its kernels withheld the answer must go wrong: once with launches that do nothing, every part of it, and once
with such that raise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from kengine.engine.integrity.origin import is_allowed
from kengine.errors import CandidateFault
from kengine.model import Check, Launch, Mode

if TYPE_CHECKING:
    from kengine.engine.executions import Execution
    from kengine.provenance import Facts


def launched(launches: Sequence[Sequence[Launch]], empty: frozenset[int] = frozenset()) -> Check:
    """Every case must have launched a kernel that completed, but for those whose answer has no elements (`empty`)."""
    idle = sum(1 for case, seen in enumerate(launches) if not seen and case not in empty)
    if idle or not any(launches):
        idle = idle or len(launches)
        return Check("launched", True, False, f"no kernel was launched in {idle} of {len(launches)} cases")
    names = sorted({launch.kernel for seen in launches for launch in seen})
    return Check("launched", True, True, f"{sum(len(s) for s in launches)} launches of {', '.join(names)}")


def do_nothing(execution: Execution) -> Check:
    """Launches do nothing: a copy of the answer from elsewhere would still be right, and so would a part of it that
    something else computes; on the first case, and on one of each other form, for which a candidate may take another
    way."""
    found = _withhold(execution, 0)
    for case in sorted(execution.others):
        if not found.ok or execution.runner.ended:
            break
        other = _withhold(execution, case)
        if not other.ok and not _only_moves(execution, case):
            found = replace(other, evidence=f"{execution.task.cases[case].name}: {other.evidence}")
    return found


def refuse(execution: Execution) -> Check:
    """Launches raise: a fallback would still be right."""
    name = "launches raise"
    try:
        comparison, _, _ = execution.check(0, _PHASE, Mode.raises)
    except CandidateFault as fault:
        return _ended(name, fault)
    return _judge(name, comparison.ok)


_PHASE = "without"
"""Inputs are new, so nothing left in memory can be right: both times the same ones, to which no kernel has given an
answer."""


def _withhold(execution: Execution, case: int) -> Check:
    name = "launches do nothing"
    try:
        right, parts = execution.withhold(case, _PHASE, "check")
    except CandidateFault as fault:
        return _ended(name, fault)
    return _judge(name, right, "" if parts and _is_permitted(execution, case) else parts)


def _ended(name: str, fault: CandidateFault) -> Check:
    if fault.status == "tampered":
        return Check(name, True, False, fault.message)
    return Check(name, True, True, f"without its kernel the candidate ends in {fault.status}")


def _judge(name: str, right: bool, parts: str = "") -> Check:
    if right:
        return Check(name, True, False, "the answer is right although no kernel ran: something else computes it")
    if parts:
        return Check(name, True, False, f"{parts} are right although no kernel ran: something else computes them")
    return Check(name, True, True, "without its kernel the answer is wrong, as it must be")


def _only_moves(execution: Execution, case: int) -> bool:
    """Whether the followed call on a case shows nothing that could have computed an answer but kernels: for some forms
    (a sum over one element) the answer is an input, and a kernel that works in place on a copy has nothing to do."""
    seen = _facts(execution, case)
    return bool(seen) and not any(
        facts.operators or facts.opaque or facts.exported_bytes or facts.array_bytes or facts.foreign_bytes
        for facts in seen
    )


def _is_permitted(execution: Execution, case: int) -> bool:
    """Whether the candidate uses operators that the task allows, which may then compute a part of the answer."""
    allow = execution.job.task.spec.allow
    return bool(allow) and any(
        is_allowed(use.name, use.kind, allow) for facts in _facts(execution, case) for use in facts.operators
    )


def _facts(execution: Execution, case: int) -> list[Facts]:
    """What was seen of the calls on a case that were followed."""
    return [facts for number, facts in zip(execution.traced, execution.facts) if number == case and facts.followed]
