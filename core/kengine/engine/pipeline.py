"""One candidate, one direction: lint, compile, launch, compare, integrity, time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from kengine import lint, tasks
from kengine.engine import companions, integrity, opinions, timings
from kengine.engine.executions import Execution
from kengine.engine.job import Job
from kengine.errors import CandidateFault, ContractViolation
from kengine.model import (
    Artifact,
    CompareRecord,
    Comparison,
    CompileRecord,
    Launch,
    LaunchRecord,
    LintRecord,
    Mode,
    Verdict,
)

if TYPE_CHECKING:
    from kengine.engine.crew import Crew
    from kengine.engine.device import Device
    from kengine.engine.judge import Judge, OpenTask


def run(job: Job, crew: Crew, device: Device) -> Verdict:
    """Judge one candidate.

    Returns the verdict whatever the candidate does. Raises TaskError, PluginError or InfraError for the faults of
    others.
    """
    fault = tasks.examine(job.candidate, job.task)
    if fault is not None:
        # A text that no toolchain could make sense of: nothing further to learn from it.
        job.fail("launch" if fault.status == "launch_failed" else "compile", fault)
        return job.verdict("")
    _lint(job)
    if job.failed and not job.plan.keep_going:
        return job.verdict("")
    with ExitStack() as stack:
        if job.task.self_referenced:
            judge = stack.enter_context(crew.own_judge(job.info, job.task, job.backend))
        else:
            judge = crew.judge(job.info, job.task, job.backend)
        with job.stage("open"):
            task = judge.open(
                job.task,
                job.salt,
                job.info.device,
                job.plan.cases,
                job.plan.screen,
                job.backend.comparers(),
                job.info.chip_error,
            )
        job.durations_ns["reference"] = task.elapsed_ns
        _execute(job, crew, judge, task, device)
    if job.plan.check:
        opinions.add(job)
    return job.verdict("" if job.failed else _praise(job))


def _lint(job: Job) -> None:
    with job.stage("lint"):
        record: LintRecord = lint.check(
            job.candidate, job.task, job.info.target, job.backend, job.plan.select, job.plan.ignore
        )
    job.record(lint=record)
    rejects = [f for f in record.findings if f.severity == "reject"]
    if rejects:
        first = rejects[0]
        job.fail("lint", CandidateFault("lint_rejected", f"{first.code}: {first.message}", line=first.line))


def _execute(job: Job, crew: Crew, judge: Judge, task: OpenTask, device: Device) -> None:
    """Compile, launch, compare and check in one runner, with the companions' compiles beside it."""
    beside = companions.start(job, crew, judge, task)
    artifacts: list[Artifact] = []
    try:
        with _execution(job, crew, judge, task, device) as execution:
            try:
                artifacts.append(execution.compile(job.info.target))
                launches = _launch(job, execution) if job.plan.check else []
            except CandidateFault as fault:
                job.fail(execution.stage, fault)
            if not job.failed and job.plan.check and job.plan.integrity:
                integrity.check(job, execution, launches)
            again = execution.runner.ended
            if not job.failed and job.plan.timed and not again:
                again = timings.measure(job, execution, last=False)
        if not job.failed and job.plan.timed and again:
            # A check without kernels may end a runner, and a clock may fail in one; what is timed then is the same
            # candidate in a fresh one.
            with _execution(job, crew, judge, task, device) as execution:
                execution.compile(job.info.target)
                timings.measure(job, execution)
    finally:
        if any(fault.status == "timed_out" for _, fault in job.faults):
            beside.abandon()
        compiled, refusal = beside.result()
    if refusal is not None:
        # What the chip's own compiler refuses comes before anything that an emulator says.
        job.faults.insert(0, ("compile", refusal))
    if artifacts or compiled:
        job.record(compile=CompileRecord(tuple(artifacts) + compiled))
    if not job.failed and job.plan.check and job.plan.integrity:
        integrity.check_choices(job, compiled)


@contextmanager
def _execution(job: Job, crew: Crew, judge: Judge, task: OpenTask, device: Device) -> Iterator[Execution]:
    with ExitStack() as stack:
        with job.stage("runner"):
            runner = stack.enter_context(crew.runner(job.info, job.backend.module))
        job.sandbox, runner.until = runner.sandbox, job.until
        try:
            yield Execution(job, judge, task, runner, device)
        finally:
            judge.release(runner.holder)


def _launch(job: Job, execution: Execution) -> list[tuple[Launch, ...]]:
    """Launch and compare every case; what was seen is recorded even when the candidate fails half-way."""
    found: dict[int, tuple[Comparison, tuple[Launch, ...]]] = {}
    details: dict[str, Any] = {}
    cases = execution.task.cases
    plain = not job.plan.integrity
    apart = frozenset() if plain else integrity.elsewhere(cases)
    execution.others = frozenset() if plain else integrity.draw_others(cases, execution.task.views)
    try:
        for case in range(len(cases)) if plain else integrity.order(cases):
            mode = Mode.traced if case in execution.others else Mode.normal
            comparison, seen, more = execution.check(case, "check", mode, elsewhere=case in apart)
            found[case] = comparison, seen
            details.update(more)
            if not comparison.ok:
                job.fail("compare", CandidateFault("wrong_result", f"{comparison.case}: {comparison.problem}"))
                if not job.plan.keep_going:
                    break
    finally:
        listed = [found[case] for case in sorted(found)]
        launches = [seen for _, seen in listed]
        if listed:
            comparisons = tuple(comparison for comparison, _ in listed)
            job.record(launch=LaunchRecord(tuple(launches), details, execution.runner.output.text()))
            job.record(compare=CompareRecord(comparisons, execution.task.skipped, execution.task.notes))
    return launches


def _praise(job: Job) -> str:
    compare = job.stages.compare
    if not job.plan.check:
        artifacts = job.stages.compile.artifacts if job.stages.compile else ()
        return f"compiled for {', '.join(str(a.target) for a in artifacts)}; nothing was launched"
    if compare is None:
        raise ContractViolation("a run ended without a comparison and without a fault", job.backend.name)
    ratios = [c.error_ratio for c in compare.comparisons if c.error_ratio is not None]
    worst = f", worst error {max(ratios):.3g} of what is allowed" if ratios else ""
    speed = f", speedup {job.stages.time.speedup:.2f}" if job.stages.time and job.stages.time.speedup else ""
    return f"right on {len(compare.comparisons)} cases{worst}{speed}"
