"""The time stage: hand the runner's channel to the judge, which measures by its own clock."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kengine.engine.judge import Overrun
from kengine.errors import CandidateFault, DeviceLost, TaskError

if TYPE_CHECKING:
    from kengine.engine.executions import Execution
    from kengine.engine.job import Job
    from kengine.model import TimeRecord


def measure(job: Job, execution: Execution, last: bool = True) -> bool:
    """Time every case of the plan with the device held alone, record it, and fail the job when it is too slow or when
    its times are not believed.

    A runner whose clock fails, though it is asked again, says nothing about the candidate. With `last` false nothing is
    recorded then, and True tells that a fresh runner should try; with `last` the device's events are the clock for
    candidate and reference from the first batch, and the record says why (`device["no_activity"]`). A candidate that
    breaks the recorder has nothing of it: see `kengine.judge.timing`. Raises DeviceLost when events fail as well.
    """
    plan = job.plan.timing_json()
    found = _ask(job, execution, plan)
    if found is None:
        return False
    record, fault = found
    reason = _unmeasured(record)
    if reason and not last:
        return True
    if reason:
        found = _ask(job, execution, {**plan, "method": "event"})
        if found is None:
            return False
        record, fault = found
        if _unmeasured(record):
            raise DeviceLost(f"neither activity nor events could be measured: {reason}; {_unmeasured(record)}")
        if record is not None:
            record = replace(record, device={**record.device, "no_activity": reason})
    if record is not None:
        job.record(time=record)
    if fault is not None:
        job.fail("time", fault)
    elif record is not None and job.plan.min_speedup is not None:
        reached = record.speedup or 0.0
        if reached < job.plan.min_speedup:
            job.fail("time", CandidateFault("too_slow", f"speedup {reached:.3g}, asked for {job.plan.min_speedup:g}"))
    return False


def _ask(
    job: Job, execution: Execution, plan: dict[str, Any]
) -> tuple[TimeRecord | None, CandidateFault | None] | None:
    """What the judge says; None when it had no end, which the job then knows."""
    runner = execution.runner
    cases = list(range(len(execution.task.cases)))[: job.plan.timed_cases]
    judge, timeout_s = execution.judge, job.plan.time_timeout_s
    try:
        while True:
            with ExitStack() as stack:
                with job.stage("wait"):
                    judge.prepare(execution.task, cases, plan, timeout_s, runner.holder)
                    stack.enter_context(execution.device.alone())
                stack.enter_context(job.stage("time"))
                answer = judge.time(execution.task, cases, runner, plan, timeout_s)
                if answer is not None:
                    return answer
    except TimeoutError as error:
        runner.kill()
        if isinstance(error, Overrun) and error.where:
            raise TaskError(
                f"task {execution.task.name!r} ({error.where}): timing did not end within {timeout_s:g} s, and it was "
                "the reference that ran; make the cases smaller or raise the plan's time_timeout_s"
            ) from None
        job.fail("time", CandidateFault("timed_out", f"timing did not end: {error}"))
        return None


def _unmeasured(record: TimeRecord | None) -> str:
    """Why the runner could not measure; "" when it could."""
    return str(record.device.get("unmeasured", "")) if record is not None else ""
