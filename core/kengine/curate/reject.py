"""Stage `reject`: only samples that the engine passes go on, on every target of their backend."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from kengine.config import Limits, Plan
from kengine.curate import structure, sweeps
from kengine.curate.judge import Bench, check_codes, check_targets, is_specialised, make_item, summarise
from kengine.curate.parallel import in_parallel
from kengine.curate.record import Judgement, Loss, Outcome, Sample, drop, evolve, label
from kengine.curate.stage import Context, Stage
from kengine.errors import InternalError, KengineError, TargetUnavailable, TaskError, UsageError
from kengine.model import JsonValue, Status, Verdict
from kengine.target import Target

T = TypeVar("T")


@dataclass(frozen=True)
class Reject:
    """[reject]: where and how candidates are judged.

    targets: `BACKEND:ARCH` each, or a backend's name for its device, else its emulator; a sample is judged on all those
    of its backend, and one whose backend has none is lost. compile_for: chips that it must compile for beside.
    cases, min_speedup, time, limits, select, ignore, *_timeout_s: as in kengine.toml. salt: secret of every
    seed; "" draws one.
    specialised: "drop" candidates that are right on the task's own shape alone, or "keep" them; `shapes` further ones
    are tried for a task that has a single one. self_referenced: "drop" samples that brought their own reference.
    keep_verdicts: whole verdicts in `verdicts.sqlite`, to replay them; also what makes equal candidates cost once.
    """

    targets: tuple[str, ...] = ()
    compile_for: tuple[str, ...] = ()
    cases: int | None = None
    time: bool = False
    min_speedup: float | None = None
    specialised: str = "drop"
    shapes: int = 1
    self_referenced: str = "drop"
    compile_timeout_s: float = 120.0
    launch_timeout_s: float = 30.0
    task_timeout_s: float = 120.0
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    salt: str = ""
    keep_verdicts: bool = True
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        for name in ("specialised", "self_referenced"):
            if getattr(self, name) not in ("drop", "keep"):
                raise UsageError(f"{name}: {getattr(self, name)!r} is not known; allowed: drop, keep")
        if not 0 <= self.shapes <= 8:
            raise UsageError(f"shapes: want 0 to 8, got {self.shapes}")
        for text in self.compile_for:
            try:
                Target.parse(text)
            except UsageError as error:
                raise UsageError(f"compile_for: {error}") from None
        for text in self.targets:
            if not re.fullmatch(r"[a-z][a-z0-9_]*(:.+)?", text):
                raise UsageError(f"targets: {text!r} is neither BACKEND:ARCH nor the name of a backend")
        try:
            self.plan("00" * 16)
        except UsageError as error:
            raise UsageError(re.sub(r"^(\w+) is ", r"\1: is ", str(error))) from None

    def plan(self, salt: str) -> Plan:
        """The engine's plan."""
        return Plan(
            cases=self.cases, time=self.time, min_speedup=self.min_speedup, compile_timeout_s=self.compile_timeout_s,
            launch_timeout_s=self.launch_timeout_s, task_timeout_s=self.task_timeout_s, select=self.select,
            ignore=self.ignore, salt=self.salt or salt, limits=self.limits,
        )  # fmt: skip


def build(section: Reject, context: Context) -> Stage:
    """The stage; its engines start with the first sample, and all at once, so that a missing target shows early.

    Raises ConfigError at once for a target that does not exist.
    """
    if not section.targets:
        raise context.settings.fail("reject", 'names no targets; for instance targets = ["triton:interpret"]')
    check_targets(context, "reject.targets", section.targets)
    check_targets(context, "reject.compile_for", section.compile_for)
    check_codes(context, "reject.select", section.targets, section.select)
    check_codes(context, "reject.ignore", section.targets, section.ignore)
    bench = make_bench(section, context)
    judge = Judging(section, bench, context.settings.seed)

    def run(samples: Iterator[Sample]) -> Iterator[Iterable[Outcome]]:
        first = next(samples, None)
        if first is None:
            return
        bench.check()
        yield from in_parallel(judge, _chain(first, samples), context.jobs, bench.close)

    return Stage("reject", "stream", run, close=bench.close)


def make_bench(section: Reject, context: Context, compile_for: tuple[str, ...] = ()) -> Bench:
    """Engines as the section wants them, the same for every stage; verdicts and salt are kept in the run's folder."""
    run = context.folder / "verdicts" if section.keep_verdicts and context.store is not None else None
    beside = tuple(dict.fromkeys((*section.compile_for, *compile_for)))
    key = ("bench", section, beside)
    if key not in context.shared:
        plan = section.plan(_salt(section, context))
        context.shared[key] = Bench(section.targets, beside, plan, context.jobs, run)
    bench: Bench = context.shared[key]
    return bench


def reject(samples: Iterable[Sample], section: Reject, jobs: int = 1, seed: int = 0) -> Iterator[Outcome]:
    """Judge samples outside a run, in their order. Raises UsageError, TargetUnavailable, InfraError."""
    bench = Bench(section.targets, section.compile_for, section.plan(_draw()), jobs)
    try:
        bench.check()
        for outcomes in in_parallel(Judging(section, bench, seed), iter(samples), jobs, bench.close):
            yield from outcomes
    finally:
        bench.close()


@dataclass(frozen=True)
class Judging:
    """Decides about one sample."""

    section: Reject
    bench: Bench
    seed: int = 0

    def __call__(self, sample: Sample) -> tuple[Outcome]:
        """The sample with its judgements, or its loss with the reason.

        A mistake of kengine's own over a sample loses that one, since it would be made again whenever the run goes on.
        """
        try:
            return self._judge(sample)
        except InternalError as error:
            return (_lose(sample, "internal_error", str(error)),)
        except KengineError:
            raise
        except Exception as error:
            return (_lose(sample, "internal_error", str(InternalError.of(error))),)

    def _judge(self, sample: Sample) -> tuple[Outcome]:
        if sample.task is None:
            return (_lose(sample, "no_task", "there is no reference to judge it by"),)
        if not sample.files:
            return (_lose(sample, "no_code", "there is no candidate to judge"),)
        if sample.task.self_referenced and self.section.self_referenced == "drop":
            return (_lose(sample, "self_referenced", "it brought its own reference"),)
        targets = self.bench.targets_of(sample)
        if not targets:
            named = ", ".join(self.bench.targets)
            what = f"of backend {sample.backend!r}" if sample.backend else "whose backend is unknown"
            return (_lose(sample, "no_target", f"a sample {what} is judged on none of {named}"),)
        judgements: list[Judgement] = []
        for target in targets:
            try:
                verdict = self.bench.verify(target, make_item(sample), sample.uid)
            except TargetUnavailable as error:
                return (_lose(sample, "no_target", str(error)),)
            except TaskError as error:
                return (_lose(sample, "broken_task", str(error)),)
            judgements.append(summarise(verdict, target))
            judged = evolve(sample, judgements=tuple(judgements))
            reason = self._refuse(verdict)
            if reason:
                return (_lose(judged, reason, verdict.message),)
            problem = self._specialised(judged, target)
            if problem:
                return (_lose(judged, "shape_specialised", problem),)
        labels: dict[str, JsonValue] = {"shapes": judgements[0].shapes} if judgements[0].shapes else {}
        return (evolve(sample, judgements=tuple(judgements), labels={**sample.labels, **labels}),)

    def _refuse(self, verdict: Verdict) -> str:
        if verdict.status is Status.passed:
            return ""
        if is_specialised(verdict):
            return "shape_specialised"
        return str(verdict.status)

    def _specialised(self, sample: Sample, target: str) -> str:
        """Why a sample that passed is right on a single shape only, "" when it is not or nothing can be said."""
        task = sample.task
        assert task is not None
        if self.section.specialised == "keep" or not self.section.shapes or sweeps.shapes_of(task) > 1:
            return ""
        tried, refused = 0, ""
        for n, variant in enumerate(sweeps.variants(task, (), self.seed)):
            if tried >= self.section.shapes or n >= 4 * self.section.shapes:
                break
            try:
                verdict = self.bench.verify(target, make_item(sample, variant.task), sample.uid)
            except (TaskError, TargetUnavailable, InternalError):
                continue  # the reference does not accept these sizes
            if verdict.passed:
                return ""
            tried += 1
            refused = f"right on the task's own shape, {verdict.status} at {variant.name}: {verdict.message}"
        return refused


def _lose(sample: Sample, reason: str, detail: str) -> Loss:
    """A loss that says of which operator, category and level its task is."""
    return drop(label(sample, **structure.describe(sample)), reason, detail)


def _chain(first: T, rest: Iterator[T]) -> Iterator[T]:
    yield first
    yield from rest


def _draw() -> str:
    import secrets

    return secrets.token_hex(16)


def _salt(section: Reject, context: Context) -> str:
    """The run's secret: kept, so that a run that goes on judges by the same seeds."""
    if section.salt or context.store is None:
        return section.salt or _draw()
    salt = context.store.meta("salt")
    if salt is None:
        salt = _draw()
        context.store.set_meta("salt", salt)
    return salt
