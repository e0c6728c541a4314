"""The time stage: hand the runner's channel to the judge, which measures by its own clock."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from kengine.errors import CandidateFault

if TYPE_CHECKING:
    from kengine.engine.executions import Execution
    from kengine.engine.job import Job


def measure(job: Job, execution: Execution) -> None:
    """Time every case of the plan with the device held alone, record it, and fail the job when it is too slow or when
    its times are not believed."""
    runner = execution.runner
    cases = list(range(len(execution.task.cases)))[: job.plan.timed_cases]
    with ExitStack() as stack:
        with job.stage("wait"):
            stack.enter_context(execution.device.alone())
        stack.enter_context(job.stage("time"))
        try:
            record, fault = execution.judge.time(
                execution.task, cases, runner, job.plan.timing_json(), job.plan.time_timeout_s
            )
        except TimeoutError as error:
            runner.kill()
            job.fail("time", CandidateFault("timed_out", f"timing did not end: {error}"))
            return
    if record is not None:
        job.record(time=record)
    if fault is not None:
        job.fail("time", fault)
    elif record is not None and job.plan.min_speedup is not None:
        reached = record.speedup or 0.0
        if reached < job.plan.min_speedup:
            job.fail("time", CandidateFault("too_slow", f"speedup {reached:.3g}, asked for {job.plan.min_speedup:g}"))
