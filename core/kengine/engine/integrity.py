"""Does the kernel cause the answer? The engine asks the runner to withhold it, and the judge looks at what is left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kengine.errors import CandidateFault
from kengine.model import Check, IntegrityRecord, Launch, Mode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kengine.engine.executions import Execution
    from kengine.engine.job import Job


def check(job: Job, execution: Execution, launches: Sequence[Sequence[Launch]]) -> None:
    """Run every integrity check, record them, and fail the job with the first that does not hold."""
    checks: list[Check] = []
    with job.stage("integrity"):
        checks.append(_launched(launches))
        if checks[-1].ok:
            checks.append(_repeat(execution))
        if checks[-1].ok:
            for mode, phase in ((Mode.noop, "without"), (Mode.raises, "raising")):
                checks.append(_knock_out(execution, mode, phase))
                if not checks[-1].ok:
                    break
    job.record(integrity=IntegrityRecord(tuple(checks)))
    for done in checks:
        if done.ran and not done.ok:
            status = "nondeterministic" if done.name == "repeat" else "sham"
            job.fail("integrity", CandidateFault(status, f"{done.name}: {done.evidence}"))
            return


def _launched(launches: Sequence[Sequence[Launch]]) -> Check:
    idle = sum(1 for seen in launches if not seen)
    if idle:
        return Check("launched", True, False, f"no kernel was launched in {idle} of {len(launches)} cases")
    names = sorted({launch.kernel for seen in launches for launch in seen})
    return Check("launched", True, True, f"{sum(len(s) for s in launches)} launches of {', '.join(names)}")


def _repeat(execution: Execution) -> Check:
    """The same inputs once more, after everything else, must be right once more."""
    try:
        comparison, _, _ = execution.check(0, "check")
    except CandidateFault as fault:
        return Check("repeat", True, False, f"a second call on the same inputs {fault.status}: {fault.message}")
    if not comparison.ok:
        return Check("repeat", True, False, f"right at first, wrong on the same inputs later: {comparison.problem}")
    return Check("repeat", True, True, "the same inputs gave a right answer again")


def _knock_out(execution: Execution, mode: Mode, phase: str) -> Check:
    """With its launches withheld the answer must go wrong; inputs are new, so nothing left in memory can be right."""
    name = {Mode.noop: "launches do nothing", Mode.raises: "launches raise"}[mode]
    if execution.runner.ended:
        return Check(name, False, True, "the runner ended in the check before")
    try:
        comparison, _, _ = execution.check(0, phase, mode)
    except CandidateFault as fault:
        if fault.status == "tampered":
            return Check(name, True, False, fault.message)
        return Check(name, True, True, f"without its kernel the candidate ends in {fault.status}")
    if comparison.ok:
        return Check(name, True, False, "the answer is right although no kernel ran: something else computes it")
    return Check(name, True, True, "without its kernel the answer is wrong, as it must be")
