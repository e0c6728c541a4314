"""Does the kernel cause the answer, and does the candidate do this whenever and however it is called?

Each check is a function of an execution; the first that does not hold decides. What is asked of the runner can convict
and never acquit; what acquits is what the judge sees in memory that it owns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from kengine.engine.integrity import background, calls, choices, knockouts, origin, state
from kengine.engine.integrity.order import draw_others, elsewhere, find_empty, order
from kengine.errors import CandidateFault
from kengine.model import Check, IntegrityRecord, JsonValue

__all__ = ["check", "check_choices", "draw_others", "elsewhere", "order"]

if TYPE_CHECKING:
    from kengine.engine.executions import Execution
    from kengine.engine.job import Job
    from kengine.model import Artifact, Launch


@dataclass
class Course:
    """What the checks of one candidate share. status: verdict of a check that does not hold, by its name.

    details: figures for the launch record. seen: what calls that were followed have launched, and others.
    """

    job: Job
    execution: Execution
    launches: Sequence[Sequence[Launch]]
    details: dict[str, JsonValue] = field(default_factory=dict)
    seen: calls.Seen = field(default_factory=calls.Seen)


def _launched(course: Course) -> Check:
    return knockouts.launched(course.launches, find_empty(course.execution.task.views))


_CHECKS: tuple[tuple[str, str, Callable[[Course], Check]], ...] = (
    ("launched", "sham", _launched),
    ("fresh contents", "wrong_result", lambda c: calls.fresh(c.execution, c.seen)),
    ("near contents", "wrong_result", lambda c: calls.near(c.execution, c.seen)),
    ("sequence", "wrong_result", lambda c: calls.sequence(c.execution, c.seen)),
    ("repeat", "nondeterministic", lambda c: calls.repeat(c.execution)),
    ("held outputs", "wrong_result", lambda c: calls.held(c.execution)),
    ("unfollowed calls", "sham", lambda c: calls.unfollowed(c.execution, c.seen)),
    ("global state", "tampered", lambda c: state.unchanged(c.execution)),
    ("background work", "tampered", lambda c: background.idle(c.execution)),
    ("launches do nothing", "sham", lambda c: knockouts.do_nothing(c.execution)),
    ("launches raise", "sham", lambda c: knockouts.refuse(c.execution)),
)
"""Name, status of a candidate for which it does not hold, and the check: those that call the candidate again."""
_REVIEWS: tuple[tuple[str, str, Callable[[Course], Check]], ...] = (
    ("provenance", "sham", lambda c: origin.provenance(c.job, c.execution, c.details)),
    ("coverage", "sham", lambda c: origin.coverage(c.job, c.launches, c.details)),
)
"""The same for those that look at what has been seen, whether or not the runner still lives."""


def check(job: Job, execution: Execution, launches: Sequence[Sequence[Launch]]) -> None:
    """Run every integrity check, record them, and fail the job with the first that does not hold."""
    course = Course(job, execution, launches)
    checks: list[Check] = []
    fault: CandidateFault | None = None
    with job.stage("integrity"):
        for name, status, run in (*_CHECKS, *_REVIEWS):
            if fault is not None and not job.plan.keep_going:
                break
            if execution.runner.ended and all(run is not review for _, _, review in _REVIEWS):
                checks.append(Check(name, False, True, "the runner ended in a check before"))
                continue
            try:
                done = run(course)
            except CandidateFault as error:
                done = Check(name, True, False, f"it ended in {error.status}: {error.message}")
                status = error.status if error.status in ("tampered", "timed_out", "crashed") else status
            if done.evidence.startswith(calls.IDLE):
                status = "sham"
            checks.append(done)
            if done.ran and not done.ok and fault is None:
                fault = CandidateFault(status, f"{done.name}: {done.evidence}")
    job.record(integrity=IntegrityRecord(tuple(checks)))
    if course.details and job.stages.launch is not None:
        launch = job.stages.launch
        job.record(launch=replace(launch, details={**launch.details, **course.details}))
    if fault is not None:
        job.fail("integrity", fault)


def check_choices(job: Job, compiled: Sequence[Artifact]) -> None:
    """Record whether the kernels that ran are those that were compiled beside, and fail the job when they are not."""
    launch, record = job.stages.launch, job.stages.integrity
    if launch is None:
        return
    found = choices.compare(launch.details, compiled, job.info.companions)
    if found is None:
        return
    job.record(integrity=IntegrityRecord((*(record.checks if record else ()), found)))
    if not found.ok:
        job.fail("integrity", CandidateFault("sham", f"{found.name}: {found.evidence}"))
