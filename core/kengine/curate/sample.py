"""Stage `sample`: K completions for each task and backend, replayed from a file or asked from an endpoint."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from types import MappingProxyType
from typing import Any, ClassVar

from kengine.curate import prompts
from kengine.curate.judge import is_device
from kengine.curate.parallel import in_parallel
from kengine.curate.record import Outcome, Sample, drop, evolve
from kengine.curate.settings import Settings
from kengine.curate.stage import Context, Stage
from kengine.curate.teacher import Endpoint, Kept, Question, Replay, Reply, Teacher
from kengine.curate.usage import price
from kengine.errors import UsageError
from kengine.model import JsonValue

PATIENCE_S = 0.2
"""How long answers that are under way are waited for once nobody wants them; what else they cost is paid already."""
OPTIONS = ("temperature", "top_p", "max_tokens", "presence_penalty", "frequency_penalty", "seed")


@dataclass(frozen=True)
class Sampling:
    """[sample]: completions for samples that have none.

    replay: a file of rows with task, completion, backend, ... ; model and url: an endpoint of OpenAI's protocol, whose
    key stands in the variable key_env. k: completions for each task and backend. backends: what to ask for; empty asks
    for the sample's own. concurrency: requests at once. options: temperature, top_p, max_tokens, ...; extra: further
    fields of the request. tags, system, reasoning: see the prompts. price_in, price_out: of a million tokens, for the
    cost count.
    """

    MEANS: ClassVar[tuple[str, ...]] = ("url", "key_env", "concurrency", "retries", "timeout_s")
    """Fields that decide how answers are come by and not which: a run goes on when they change."""

    replay: str = ""
    model: str = ""
    url: str = ""
    key_env: str = "OPENAI_API_KEY"
    k: int = 4
    backends: tuple[str, ...] = ()
    concurrency: int = 16
    retries: int = 6
    timeout_s: float = 600.0
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    seed: int | None = None
    tags: tuple[str, ...] = ("backend",)
    system: str = ""
    reasoning: bool = False
    price_in: float = 0.0
    price_out: float = 0.0
    extra: dict[str, JsonValue] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.k < 1:
            raise UsageError(f"k: want at least 1, got {self.k}")
        if self.concurrency < 1:
            raise UsageError(f"concurrency: want at least 1, got {self.concurrency}")
        if self.replay and self.model:
            raise UsageError("replay: give a file to replay or a model to ask, not both")
        for tag in self.tags:
            if tag not in prompts.TAGS:
                raise UsageError(f"tags: {tag!r} is not known; allowed: {', '.join(prompts.TAGS)}")
        if not re.fullmatch(r"[A-Za-z_]\w*", self.key_env):
            raise UsageError("key_env: want the name of a variable, never the key itself")


def build(section: Sampling, context: Context) -> Stage:
    """The stage. Raises UsageError when there is neither a file nor a model, or the file is none."""
    teacher, chips = make_teacher(section, context), chips_of(context.settings)

    def run(samples: Iterator[Sample]) -> Iterator[Iterable[Outcome]]:
        return ask_all(samples, teacher, section, chips)

    def close() -> None:
        if isinstance(teacher, Kept):
            teacher.close()

    return Stage("sample", "stream", run, adds=True, close=close)


def make_teacher(section: Sampling, context: Context, name: str = "completions.jsonl") -> Teacher:
    """The file or the endpoint of a section; an endpoint's answers are kept in the folder of the run."""
    if section.replay:
        try:
            return Replay((context.settings.base / section.replay).expanduser())
        except UsageError as error:
            raise context.settings.fail("sample.replay", str(error)) from error
    if not section.model:
        raise context.settings.fail("sample", "names neither a file to `replay` nor a `model` to ask")
    options: dict[str, Any] = {k: getattr(section, k) for k in OPTIONS if getattr(section, k) is not None}
    if section.extra:
        options["extra_body"] = section.extra
    endpoint = Endpoint(
        section.url, section.model, key_env=section.key_env, retries=section.retries, timeout_s=section.timeout_s,
        options=options,
    )  # fmt: skip
    return Kept(endpoint, context.folder / name, {"model": section.model, **options})


def ask_all(
    samples: Iterator[Sample], teacher: Teacher, section: Sampling, chips: Mapping[str, str] = MappingProxyType({})
) -> Iterator[tuple[Outcome, ...]]:
    """For each sample all its completions; samples with code or a completion pass as they are.

    A file that holds fewer than k completions gives what it has; a task without any is lost. Requests of several
    samples run side by side; answers come in order. chips: by backend, what prompts name as the target.
    """

    def questions() -> Iterator[tuple[Sample, Question | None]]:
        for sample in samples:
            if sample.files or sample.completion or sample.task is None:
                waiting.append((sample, 1))
                yield sample, None
                continue
            sample = prompts.adopt(sample)
            made = list(_questions(sample, section, chips))
            waiting.append((sample, len(made)))
            yield from ((aim(sample, q.backend, chips), q) for q in made)

    def work(pair: tuple[Sample, Question | None]) -> Sample | None:
        sample, question = pair
        if question is None:
            return sample
        reply = teacher.ask(question)
        return None if reply is None else _answered(sample, question, reply, section)

    waiting: deque[tuple[Sample, int]] = deque()
    answers = in_parallel(work, questions(), section.concurrency, teacher.abandon, PATIENCE_S)
    for first in answers:
        asked, count = waiting.popleft()
        found = [a for a in (first, *islice(answers, count - 1)) if a is not None]
        yield tuple(found) or (drop(asked, "no_completion", "there is no completion for this task"),)


def aim(sample: Sample, backend: str, chips: Mapping[str, str]) -> Sample:
    """The sample for a backend, with the chips that answers must run on as its target where none is given."""
    labels = sample.labels
    if chips.get(backend) and "target" not in labels:
        labels = {**labels, "target": chips[backend]}
    return evolve(sample, backend=backend, labels=labels)


def chips_of(settings: Settings) -> dict[str, str]:
    """The chips that [reject] judges on or compiles for, by backend; emulators are none."""
    section = settings.tables.get("reject")
    found: dict[str, list[str]] = {}
    if section is not None:
        for text in (*section.compile_for, *(t for t in section.targets if is_device(t))):
            found.setdefault(text.partition(":")[0], []).append(text)
    return {backend: ", ".join(dict.fromkeys(texts)) for backend, texts in found.items()}


def _questions(sample: Sample, section: Sampling, chips: Mapping[str, str]) -> Iterator[Question]:
    assert sample.task is not None
    for backend in section.backends or (sample.backend,):
        messages = prompts.build(
            aim(sample, backend, chips), tags=section.tags, system=section.system, reasoning=section.reasoning
        )
        for number in range(section.k):
            yield Question(sample.task.name, backend, number, messages)


def _answered(sample: Sample, question: Question, reply: Reply, section: Sampling) -> Sample:
    sampling: dict[str, JsonValue] = {"number": question.number, **reply.usage}
    for name in ("temperature", "top_p", "seed"):
        if getattr(section, name) is not None:
            sampling[name] = getattr(section, name)
    sampling |= price(reply.usage, section.price_in, section.price_out)
    uid = f"{sample.uid}~{question.backend or 'any'}{question.number}"
    return evolve(
        sample, uid=uid, parent=sample.uid, completion=reply.text, reasoning=reply.reasoning,
        model=reply.model or sample.model, sampling=sampling,
    )  # fmt: skip
