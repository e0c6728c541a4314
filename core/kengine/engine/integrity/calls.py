"""More calls of the candidate: other contents in the same memory, nearly the same contents, and many in a row.

Where the calls of the task's own cases show something already, no further call is made for it: every one costs what a
case costs.
"""

from __future__ import annotations

import random
import secrets
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kengine.engine.integrity.order import elsewhere, find_empty, find_last
from kengine.model import Check, Comparison, Launch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kengine.engine.executions import Execution

CHEAP_NS = 8_000_000
"""A call that takes less is made in a longer sequence."""
FEW, MANY = (1, 1), (2, 4)
"""How many calls a sequence has before the first inputs come once more: drawn anew each time."""
LONG = 12
"""Calls whose results are held where a result lies in memory that was there before the call."""
AGAIN = 3
"""Calls of each sort, followed and not, that decide whether a difference in what they launch is no accident."""
IDLE = "no kernel was launched"
"""How the evidence of a call without a launch begins: whatever the check, the candidate is a sham then."""


@dataclass
class Seen:
    """What the checks have seen: launches of calls that were followed, and of such that were not.

    fresh: whether a call was made for `fresh`, so that its contents are those that were seen last.
    """

    followed: list[Sequence[Launch]] = field(default_factory=list)
    alone: list[Sequence[Launch]] = field(default_factory=list)
    fresh: bool = False


def fresh(execution: Execution, seen: Seen) -> Check:
    """Other contents where an earlier call's inputs were: an answer kept by shape, address or call is now wrong.

    A call that is made for this is followed as well, for `origin`.
    """
    cases, places = execution.task.cases, execution.places
    last = find_last(cases)
    if last and places.get(0) is not None and places.get(0) == places.get(last):
        evidence = f"right on {cases[last].name} in the memory of {cases[0].name}"
        return Check("fresh contents", True, True, evidence)
    return _fresh(execution, seen, "fresh contents")


def _fresh(execution: Execution, seen: Seen, name: str) -> Check:
    seen.fresh = True
    comparison, launches = execution.trace(0, "fresh")
    seen.followed.append(launches)
    return _right(name, comparison, launches, "other contents in the memory of an earlier call")


def near(execution: Execution, seen: Seen) -> Check:
    """Contents that differ from the last call's at a few places only: an answer kept by a fingerprint is now wrong.

    Where the last call was that of a case, these are the first of the sequence, in the same memory.
    """
    name = "near contents"
    if not seen.fresh:
        last = find_last(execution.task.cases)
        phase = execution.judge.near(execution.task, last, "check")
        if phase and _call_in_a_row(execution, seen, (last, phase)):
            return _right(name, execution.compared[0], execution.launched[0], _how(phase))
        found = _fresh(execution, seen, name)
        if not found.ok:
            return found
    phase = execution.judge.near(execution.task, 0, "fresh")
    if not phase:
        reason = "the answer to this task stays the same when a few elements of its inputs change"
        return Check(name, False, True, reason)
    comparison, launches, _ = execution.check(0, phase)
    seen.alone.append(launches)
    return _right(name, comparison, launches, _how(phase))


def _how(phase: str) -> str:
    return f"the same contents with a few elements {'changed' if phase.endswith('changed') else 'swapped'}"


def unfollowed(execution: Execution, seen: Seen) -> Check:
    """A call that is not followed launches what one that is followed does: an operator takes no kernel's place there.

    It comes after `held`, since a further call ends the loan of what that looks at.
    What was launched until now is looked at first. Where it differs, calls of both sorts are made on the same contents,
    in an order that is drawn: work that changes from call to call by itself is no fault.
    """
    name = "unfollowed calls"
    if not seen.followed:
        return Check(name, False, True, "no call was followed")
    same = "fresh~same" if seen.fresh else "check~same"
    followed = {_kernels(launches) for launches in seen.followed}
    alone = {_kernels(launches) for launches in seen.alone} or {_kernels(execution.check(0, same)[1])}
    if not followed & alone:
        sorts = [True, False] * AGAIN
        random.SystemRandom().shuffle(sorts)
        followed, alone = set(), set()
        for sort in sorts:
            if sort:
                followed.add(_kernels(execution.trace(0, same)[1]))
            else:
                alone.add(_kernels(execution.check(0, same)[1]))
    if followed & alone:
        return Check(name, True, True, "the same launches whether or not a call is followed")
    first, second = (_listed(min(kernels, key=len)) for kernels in (followed, alone))
    return Check(name, True, False, f"it launches {first} while it is followed and {second} while it is not")


def sequence(execution: Execution, seen: Seen) -> Check:
    """Calls in a row whose number and order nobody outside knows, each on inputs elsewhere in memory.

    Those of a check come last, twice: an answer to a question that was just asked must be worked out as well.
    """
    if not execution.compared:
        _call_in_a_row(execution, seen)
    total = len(execution.compared)
    empty = find_empty(execution.task.views)
    idle = [n for n, launches in enumerate(execution.launched) if not launches and execution.held[n][0] not in empty]
    if idle:
        return Check("sequence", True, False, f"{IDLE} in call {idle[0] + 1} of {total} in a row")
    for number, comparison in enumerate(execution.compared[:-2]):
        if not comparison.ok:
            evidence = f"call {number + 1} of {total} in a row is wrong: {comparison.problem}"
            return Check("sequence", True, False, evidence)
    return Check("sequence", True, True, f"right in {total} calls in a row on inputs elsewhere in memory")


def _call_in_a_row(execution: Execution, seen: Seen, first: tuple[int, str] | None = None) -> bool:
    """Make the sequence; `first` begins it, in the memory of the last call: False where it would not lie there."""
    low, high = MANY if execution.call_ns < CHEAP_NS else FEW
    count = low + secrets.randbelow(high - low + 1)
    cases = execution.task.cases
    known = "fresh" if seen.fresh else "sequence/0"
    # One has contents of its own; those of the others are known already, and their answers with them.
    calls = [(0, "sequence/0")]
    if first is None and count > 1:
        # Two of the same shape in a row: a buffer that is made anew when the shape changes is given back twice.
        calls.insert(secrets.randbelow(2), (0, "fresh" if seen.fresh else "sequence/1"))
    for _ in range(count - len(calls)):
        case = secrets.randbelow(len(cases))
        calls.append((case, "check" if case else known))
    if first is not None:
        # Of the same shape as well. New contents elsewhere in memory were among the cases, where some lay there.
        calls = [first, *(() if count == 1 and elsewhere(cases) else calls)]
    # Where a call takes long, another form is asked for twice: on average it costs less, and the first has been seen.
    again = secrets.choice(sorted(execution.others)) if high == 1 and execution.others else 0
    calls = _apart([*calls, (again, "check"), (again, "check")])
    at = None if first is None else execution.places.get(first[0])
    if not execution.sequence([case for case, _ in calls], [phase for _, phase in calls], at, again):
        return False
    if first is not None:
        for (case, _), launches, followed in zip(calls, execution.launched, execution.followed):
            if case == again:
                (seen.followed if followed else seen.alone).append(launches)
    return True


def _apart(calls: Sequence[tuple[int, str]]) -> list[tuple[int, str]]:
    """The same inputs by another name where they come again: each loan has a name of its own."""
    apart: list[tuple[int, str]] = []
    for case, phase in calls:
        while (case, phase) in apart:
            phase += "~same"
        apart.append((case, phase))
    return apart


def repeat(execution: Execution) -> Check:
    """The inputs of a check once more, after everything else, must be right once more."""
    if not execution.compared:
        return Check("repeat", False, True, "no sequence of calls was made")
    for last in execution.compared[-2:]:
        if not last.ok:
            return Check("repeat", True, False, f"right at first, wrong on the same inputs later: {last.problem}")
    return Check("repeat", True, True, "the same inputs gave a right answer again")


def held(execution: Execution) -> Check:
    """What these calls returned, looked at again after the last of them, must still be right.

    Where a result lies in memory that was there before its call, a dozen more are held: buffers may be given back in
    turn.
    """
    if not execution.held:
        return Check("held outputs", False, True, "no sequence of calls was made")
    if "reused-output" in execution.job.task.spec.allow:
        return Check("held outputs", False, True, "the task allows one buffer for several answers")
    again = execution.look_again()
    if all(c.ok for c in again) and any(o.older for facts in execution.facts for o in facts.outputs):
        execution.sequence([0] * LONG, [f"held/{n}" for n in range(LONG)])
        again = execution.look_again()
    for number, comparison in enumerate(again):
        if not comparison.ok:
            evidence = (
                f"what call {number + 1} returned was right and is no longer after later calls: {comparison.problem}; "
                'return a new array, or have the task allow "reused-output"'
            )
            return Check("held outputs", True, False, evidence)
    return Check("held outputs", True, True, "earlier results are the same after later calls")


def _kernels(launches: Sequence[Launch]) -> frozenset[tuple[tuple[str, tuple[int, ...]], int]]:
    """Kernels with their grids, and how often each was launched."""
    found: Counter[tuple[str, tuple[int, ...]]] = Counter()
    for launch in launches:
        found[launch.kernel, launch.grid] += launch.count
    return frozenset(found.items())


def _listed(kernels: frozenset[tuple[tuple[str, tuple[int, ...]], int]]) -> str:
    parts = [f"{count} x {name[:60]}{list(grid)}" for (name, grid), count in sorted(kernels)]
    return (", ".join(parts[:4]) or "nothing") + (f" and {len(parts) - 4} more" if len(parts) > 4 else "")


def _right(name: str, comparison: Comparison, launches: Sequence[Launch], what: str) -> Check:
    if not comparison.ok:
        return Check(name, True, False, f"right when checked, wrong on {what}: {comparison.problem}")
    if not launches:
        return Check(name, True, False, f"{IDLE} for {what}")
    return Check(name, True, True, f"right on {what}")
