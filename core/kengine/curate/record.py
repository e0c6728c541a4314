"""What flows through curation: a `Sample` while it lives, a `Loss` once it is dropped, `Judgement` for each verdict."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Union

from kengine.curate.usage import read_usage
from kengine.model import JsonValue, KernelResources, SourceFile, Task

Message = Mapping[str, str]
"""One turn of a conversation: {"role": ..., "content": ...}."""


@dataclass(frozen=True)
class Judgement:
    """What is kept of one verdict: enough to filter, report and replay, without the task and the candidate.

    latency_ns: median of the candidate's timed calls, geometric mean over cases; None where nothing was timed.
    kernels: of every target that was compiled for; details["target"] names it where it is not `target`.
    salt: the secret that every seed of the verdict follows from. versions: kengine, python and the toolchain.
    shapes: "several" when cases of different parameters were right, "one", or "" when none was compared.
    """

    target: str
    status: str
    emulated: bool = True
    stage: str = ""
    message: str = ""
    speedup: float | None = None
    latency_ns: int | None = None
    kernels: tuple[KernelResources, ...] = ()
    compiled_for: tuple[str, ...] = ()
    cases: int = 0
    shapes: str = ""
    memory_bytes: int | None = None
    salt: str = ""
    device: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    duration_ns: int = 0

    @property
    def passed(self) -> bool:
        """Whether the verdict was `passed`."""
        return self.status == "passed"


@dataclass(frozen=True)
class Sample:
    """One (task, candidate) pair on its way through the stages; frozen, changed by `dataclasses.replace`.

    uid: unique in a run and the same in every run over the same sources. source: name of the `[[source]]`; origin:
    where in it (`file:row`). task: None when the source has none. group: samples of one group never fall into
    different splits; the digest of the task that the sample came with, kept by its variants.
    files: the candidate, main file first; () before its completion is parsed, and for a task without a candidate.
    entry: name of the candidate's entry where the source names it. backend: "triton", "cuda", ... or "".
    prompt: messages that the source was asked with; () means that one is built from the task. instruction: what the
    source says of its task in words, a part of the prompt that is built.
    completion: what the model wrote, as it is; "" for code that was never a completion. reasoning: thoughts, apart.
    labels: what stages found out: operator, category, level, difficulty, pass_rate, cluster, cluster_size, variant, ...
    claims: what the source says of itself (runtimes, "correct"), never believed. weight: how often to train on it.
    parent: uid of the sample that this one was made from.
    """

    uid: str
    source: str
    origin: str
    task: Task | None = None
    group: str = ""
    files: tuple[SourceFile, ...] = ()
    entry: str = ""
    backend: str = ""
    prompt: tuple[Message, ...] = ()
    completion: str = ""
    reasoning: str = ""
    license: str = ""
    model: str = ""
    sampling: Mapping[str, JsonValue] = field(default_factory=dict)
    labels: Mapping[str, JsonValue] = field(default_factory=dict)
    claims: Mapping[str, JsonValue] = field(default_factory=dict)
    judgements: tuple[Judgement, ...] = ()
    weight: float = 1.0
    parent: str = ""
    instruction: str = ""

    @property
    def code(self) -> str:
        """Text of the candidate's main file, "" when there is none."""
        return self.files[0].text if self.files else ""

    @property
    def language(self) -> str:
        """ "python", "cuda" or "hip", by the suffix of the main file."""
        name = self.files[0].path.lower() if self.files else ""
        if name.endswith(".hip"):
            return "hip"
        return "cuda" if name.endswith((".cu", ".cuh", ".cpp", ".cc")) else "python"

    @cached_property
    def digest(self) -> str:
        """SHA-256 over the candidate's files, hexadecimal; the same for samples whose text is the same."""
        text = "".join([f"{file.path}\0{file.text}\0" for file in self.files])
        return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()

    @property
    def passed(self) -> bool:
        """Whether it was judged and passed everywhere."""
        return bool(self.judgements) and all(j.passed for j in self.judgements)

    def facets(self) -> dict[str, JsonValue]:
        """What losses are broken down by: task, operator, category, level, difficulty, backend, source."""
        kept = {key: self.labels[key] for key in FACETS if key in self.labels}
        spec = self.task.spec if self.task else None
        if spec is not None and spec.category:
            kept.setdefault("category", spec.category)
        if spec is not None and spec.level is not None:
            kept.setdefault("level", spec.level)
        return {"task": self.task.name if self.task else "", "backend": self.backend, "source": self.source, **kept}


    def usage(self) -> dict[str, JsonValue]:
        """What its completion took; {} for one that was not sampled, and for a variant, whose parent's it was."""
        return read_usage(self.sampling, self.model) if self.sampling and "variant" not in self.labels else {}


FACETS = ("operator", "category", "level", "difficulty")
"""Labels by which losses and kept samples are broken down."""


@dataclass(frozen=True)
class Loss:
    """One sample that a stage dropped: which, where, why (a short stable word), and a sentence for a person.

    facets: `Sample.facets()` of what was dropped. group: as in Sample, to count attempts a task. usage: what its
    completion took (`kengine.curate.usage`).
    `stage` may be left "": the pipeline fills it in.
    """

    uid: str
    reason: str
    detail: str = ""
    stage: str = ""
    group: str = ""
    facets: Mapping[str, JsonValue] = field(default_factory=dict)
    judgements: tuple[Judgement, ...] = ()
    usage: Mapping[str, JsonValue] = field(default_factory=dict)


Outcome = Union[Sample, Loss]


def drop(sample: Sample, reason: str, detail: str = "") -> Loss:
    """The loss of a sample."""
    return Loss(sample.uid, reason, detail, "", sample.group, sample.facets(), sample.judgements, sample.usage())


def label(sample: Sample, **labels: JsonValue) -> Sample:
    """The sample with labels added."""
    return evolve(sample, labels={**sample.labels, **labels})


def evolve(sample: Sample, **changes: Any) -> Sample:
    """The sample with some fields changed; what `dataclasses.replace` does, at a third of its time.

    Raises TypeError for a field that does not exist.
    """
    made = object.__new__(Sample)
    values = made.__dict__
    values.update(sample.__dict__)
    values.pop("digest", None)  # that of the old files
    values.update(changes)
    if len(values) != _FIELD_COUNT:
        raise TypeError(f"a sample has no field {', '.join(sorted(changes.keys() - _FIELD_SET))}")
    return made


def make(values: Mapping[str, Any]) -> Sample:
    """A sample from all of its fields by name. Raises TypeError for one too many or too few."""
    if values.keys() != _FIELD_SET:
        raise TypeError(f"not the fields of a sample: {', '.join(sorted(values.keys() ^ _FIELD_SET))}")
    made = object.__new__(Sample)
    made.__dict__.update(values)
    return made


_FIELD_SET = frozenset(Sample.__dataclass_fields__)
_FIELD_COUNT = len(_FIELD_SET)
