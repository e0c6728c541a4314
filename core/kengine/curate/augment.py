"""Stage `augment`: reasoning beside the code, tasks at other sizes, dtypes and targets; every variant is executed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice

from kengine.array import ITEMSIZE
from kengine.curate import prompts, sweeps
from kengine.curate.completion import split_thoughts
from kengine.curate.judge import Bench, check_targets, make_item, summarise
from kengine.curate.parallel import in_parallel
from kengine.curate.record import Message, Outcome, Sample, evolve, label
from kengine.curate.reject import Reject, make_bench
from kengine.curate.sample import PATIENCE_S, Sampling, make_teacher
from kengine.curate.stage import Context, Stage
from kengine.curate.teacher import Kept, Question, Teacher
from kengine.curate.usage import price
from kengine.errors import InternalError, TargetUnavailable, TaskError, UsageError
from kengine.target import Target


@dataclass(frozen=True)
class Augment:
    """[augment]: what is made of each sample that is left.

    reasoning: "keep" what the sample came with, "ask" the teacher of [sample] where there is none, "drop" it.
    variants: at most so many variants of each task, with the sample's own code; each is judged, and one that the
    reference or the candidate does not take is left out. dtypes: also at these. targets: chips that the candidate must
    compile for, and that prompts name; each gives variants of its own. attempts: variants tried for each wanted.
    """

    reasoning: str = "keep"
    variants: int = 0
    dtypes: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    attempts: int = 3

    def __post_init__(self) -> None:
        if self.reasoning not in ("keep", "ask", "drop"):
            raise UsageError(f"reasoning: {self.reasoning!r} is not known; allowed: keep, ask, drop")
        if not 0 <= self.variants <= 100:
            raise UsageError(f"variants: want 0 to 100, got {self.variants}")
        if self.attempts < 1:
            raise UsageError(f"attempts: want at least 1, got {self.attempts}")
        for dtype in self.dtypes:
            if dtype not in ITEMSIZE:
                raise UsageError(f"dtypes: {dtype!r} is not known; allowed: {', '.join(ITEMSIZE)}")
        for target in self.targets:
            try:
                Target.parse(target)
            except UsageError as error:
                raise UsageError(f"targets: {error}") from None


def build(section: Augment, context: Context) -> Stage:
    """The stage; variants are judged as [reject] says. Raises UsageError where it needs a table that is not there."""
    settings = context.settings
    teacher: Teacher | None = None
    if section.reasoning == "ask":
        if "sample" not in settings.tables:
            raise settings.fail("augment.reasoning", '"ask" needs a table [sample] that says whom to ask')
        teacher = make_teacher(settings.section("sample"), context, "reasons.jsonl")
    bench: Bench | None = None
    if section.variants:
        judging: Reject = settings.section("reject")
        if not judging.targets:
            raise settings.fail("augment.variants", "are judged on the targets of [reject], which names none")
        check_targets(context, "augment.targets", section.targets)
        bench = make_bench(judging, context, section.targets)
    prices = (settings.section("sample").price_in, settings.section("sample").price_out) if teacher else (0.0, 0.0)
    work = Augmenting(section, bench, teacher, settings.seed, prices)

    def run(samples: Iterator[Sample]) -> Iterator[Iterable[Outcome]]:
        asking: Sampling | None = settings.section("sample") if teacher is not None else None
        jobs = max(context.jobs, asking.concurrency if asking else 1)
        return in_parallel(work, samples, jobs, abandon, PATIENCE_S if teacher is not None else None)

    def abandon() -> None:
        if teacher is not None:
            teacher.abandon()
        if bench is not None:
            bench.close()

    def close() -> None:
        if bench is not None:
            bench.close()
        if isinstance(teacher, Kept):
            teacher.close()

    return Stage("augment", "stream", run, adds=True, close=close)


_TOKENS = ("prompt_tokens", "completion_tokens", "cost")


@dataclass(frozen=True)
class Augmenting:
    """Augments one sample."""

    section: Augment
    bench: Bench | None
    teacher: Teacher | None
    seed: int
    prices: tuple[float, float] = (0.0, 0.0)

    def __call__(self, sample: Sample) -> tuple[Outcome, ...]:
        """The sample, and its variants after it."""
        sample = self._reason(sample)
        if self.bench is None or sample.task is None or not sample.files:
            return (sample,)
        found = islice(self._variants(sample, self.bench), self.section.variants)
        return (sample, *(evolve(v, uid=f"{sample.uid}#{n}") for n, v in enumerate(found, 1)))

    def _reason(self, sample: Sample) -> Sample:
        if self.section.reasoning == "drop":
            return evolve(sample, reasoning="") if sample.reasoning else sample
        if self.teacher is None or sample.reasoning or sample.task is None:
            return sample
        reply = self.teacher.ask(
            Question(sample.task.name, sample.backend, 0, ask_for_reasons(sample), f"reasoning {sample.digest[:16]}")
        ) or self.teacher.ask(Question(sample.task.name, sample.backend, 0, (), "reasoning"))
        if reply is None:
            return sample
        took = {f"reasons_{key}": reply.usage[key] for key in _TOKENS if key in reply.usage}
        took |= price(reply.usage, *self.prices, "reasons_")
        if took:
            sample = evolve(sample, sampling={**sample.sampling, **took})
        answer, thoughts, cut = split_thoughts(reply.text)
        text = "" if cut else (thoughts or answer.strip())
        return label(evolve(sample, reasoning=text), reasoning="asked") if text else sample

    def _variants(self, sample: Sample, bench: Bench) -> Iterator[Sample]:
        assert sample.task is not None
        targets = bench.targets_of(sample)
        chips = [t for t in self.section.targets if Target.parse(t).backend == sample.backend] or [""]
        limit = self.section.variants * self.section.attempts
        for n, variant in enumerate(islice(sweeps.variants(sample.task, self.section.dtypes, self.seed), limit)):
            judgements = []
            for target in targets:
                try:
                    verdict = bench.verify(target, make_item(sample, variant.task), sample.uid)
                except (TaskError, TargetUnavailable, InternalError):
                    break  # the reference does not take these sizes
                if not verdict.passed:
                    break
                judgements.append(summarise(verdict, target))
            if len(judgements) < len(targets) or not targets:
                continue
            made = evolve(
                sample,
                task=replace(variant.task, name=sample.task.name),
                parent=sample.uid,
                prompt=(),
                judgements=tuple(judgements),
            )
            chip = chips[n % len(chips)]
            yield label(made, variant=variant.name, **({"target": chip} if chip else {}))


def ask_for_reasons(sample: Sample) -> tuple[Message, ...]:
    """Messages that ask why a kernel is built as it is, without its code being written again."""
    (*before, user) = sample.prompt or prompts.build(sample)
    text = (
        f"{user['content']}\n\nThis answer is known to be right:\n```\n{sample.code.strip()}\n```\n\n"
        "Give the reasons that lead to it, as someone thinks before writing it: how the work is divided, what stays on "
        "chip, how edges are masked, in which precision sums are kept. Do not repeat the code."
    )
    return (*before, {"role": "user", "content": text})
