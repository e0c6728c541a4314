"""More calls of the candidate: other contents in the same memory, nearly the same contents, and many in a row."""

from __future__ import annotations

import random
import secrets
from collections import Counter
from typing import TYPE_CHECKING

from kengine.model import Check, Comparison, Launch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kengine.engine.executions import Execution

    Seen = dict[str, Sequence[Launch]]
    """Launches of the calls that were made for `fresh` and `near`."""

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


def fresh(execution: Execution, seen: Seen) -> Check:
    """Other contents where the last call's inputs were: an answer kept by shape, address or call is now wrong.

    This call is followed as well, for `origin`.
    """
    comparison, launches = execution.trace(0, "fresh")
    seen["fresh"] = launches
    return _right("fresh contents", comparison, launches, "other contents in the memory of an earlier call")


def near(execution: Execution, seen: Seen) -> Check:
    """Contents that differ from the last call's at a few places only: an answer kept by a fingerprint is now wrong."""
    phase = execution.judge.near(execution.task, 0, "fresh")
    if not phase:
        reason = "the answer to this task stays the same when a few elements of its inputs change"
        return Check("near contents", False, True, reason)
    how = "swapped" if phase.endswith("swapped") else "changed"
    comparison, launches, _ = execution.check(0, phase)
    seen["near"] = launches
    return _right("near contents", comparison, launches, f"the same contents with a few elements {how}")


def unfollowed(execution: Execution, seen: Seen) -> Check:
    """A call that is not followed launches what one that is followed does: an operator takes no kernel's place there.

    What was launched on nearly the same contents is looked at first. Where it differs, calls of both sorts are made on
    the same contents, in an order that is drawn: work that changes from call to call by itself is no fault.
    """
    name = "unfollowed calls"
    if "fresh" not in seen:
        return Check(name, False, True, "no call was followed")
    same = "fresh~same"
    followed = {_kernels(seen["fresh"])}
    alone = {_kernels(seen["near"] if "near" in seen else execution.check(0, same)[1])}
    if followed != alone:
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


def sequence(execution: Execution) -> Check:
    """Calls in a row whose number and order nobody outside knows, each on inputs elsewhere in memory.

    Those of the first check come last, twice: an answer to a question that was just asked must be worked out as well.
    """
    low, high = MANY if execution.call_ns < CHEAP_NS else FEW
    count = low + secrets.randbelow(high - low + 1)
    # Two of the same shape in a row: a buffer that is made anew when the shape changes is given back twice.
    cases = [0, 0][:count] + [secrets.randbelow(len(execution.task.cases)) for _ in range(count - 2)]
    phases = [f"sequence/{n}" for n in range(count)]
    execution.sequence([*cases, 0, 0], [*phases, "check", "check~same"])
    idle = [number for number, launches in enumerate(execution.launches) if not launches]
    if idle:
        return Check("sequence", True, False, f"{IDLE} in call {idle[0] + 1} of {count + 2} in a row")
    for number, comparison in enumerate(execution.compared[:-2]):
        if not comparison.ok:
            evidence = f"call {number + 1} of {count + 2} in a row is wrong: {comparison.problem}"
            return Check("sequence", True, False, evidence)
    return Check("sequence", True, True, f"right in {count + 2} calls in a row on inputs elsewhere in memory")


def repeat(execution: Execution) -> Check:
    """The first inputs once more, after everything else, must be right once more."""
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
