"""Stage `decontaminate`: samples that a benchmark could be answered with by heart are dropped."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

from kengine.curate.record import Outcome, Sample, drop
from kengine.curate.stage import Context, Corpus, Stage
from kengine.errors import InfraError, UsageError

if TYPE_CHECKING:
    from kengine.curate.decontam_match import Index, Match
    from kengine.curate.settings import Settings

SCHEMA = "kengine.contamination/1"
"""Schema of a line of the audit."""


@dataclass(frozen=True)
class Benchmark:
    """A set that a model will be measured on: file or folder of any format that [[source]] takes."""

    path: str
    name: str = ""
    format: str = ""
    tasks: str = ""


@dataclass(frozen=True)
class Decontaminate:
    """[decontaminate]: benchmark: the sets. near: also drop code that is similar to theirs, not only what is equal.

    threshold: Jaccard similarity of shingles from which on it is. containment: share of the shorter one's shingles that
    the longer one holds, which counts as well. names: a task of the same name or problem is the same task.
    audit: file that tells for every dropped sample what it matched; "" is `contamination.jsonl` in the run's folder,
    and none for a stage that stands alone.
    """

    benchmark: tuple[Benchmark, ...] = ()
    near: bool = True
    threshold: float = 0.8
    containment: float = 0.9
    names: bool = True
    audit: str = ""

    def __post_init__(self) -> None:
        for name in ("threshold", "containment"):
            if not 0.5 <= getattr(self, name) <= 1.0:
                raise UsageError(f"{name}: want 0.5 to 1, got {getattr(self, name):g}")
        for n, each in enumerate(self.benchmark):
            if not each.path:
                raise UsageError(f"benchmark[{n}].path: is empty, want a file or a folder")


def build(section: Decontaminate, context: Context) -> Stage:
    """The stage. Raises UsageError for a benchmark that cannot be read or holds nothing."""
    from kengine.curate.dedup import find_output

    base, audit = context.settings.base, find_output(section.audit, "contamination.jsonl", context)
    _open(section, context.settings)

    def run(corpus: Corpus) -> Iterator[Outcome]:
        return _run(corpus, section, base, context.jobs, audit)

    return Stage("decontaminate", "whole", run)


def decontaminate(
    samples: Iterable[Sample], section: Decontaminate, base: Path | None = None, jobs: int = 1
) -> Iterator[Outcome]:
    """Decontaminate samples outside a run, in their order. base: what paths are relative to. Raises UsageError."""
    base = base or Path.cwd()
    return _run(samples, section, base, jobs, base / section.audit if section.audit else None)


def _open(section: Decontaminate, settings: Settings) -> None:
    """Raise UsageError early for what is missing."""
    from kengine.curate.code.tokens import check_installed
    from kengine.curate.load import open_source
    from kengine.curate.settings import Source

    if not section.benchmark:
        raise settings.fail(
            "decontaminate", 'names no benchmark; for instance benchmark = [{ path = "kernelbench.jsonl" }]'
        )
    check_installed()
    for n, each in enumerate(section.benchmark):
        source = Source(each.path, each.name or Path(each.path).name, each.format, tasks=each.tasks)
        try:
            open_source(source, settings.base)
        except UsageError as error:
            problem = str(error).removeprefix("source ")
            raise settings.fail(f"decontaminate.benchmark[{n}]", problem, each.path) from error


def _run(
    samples: Iterable[Sample], section: Decontaminate, base: Path, jobs: int, audit: Path | None
) -> Iterator[Outcome]:
    from kengine.curate.decontam_match import read_index

    index = read_index(section, base)
    with _Audit(audit, index) as write:
        for sample, matches in _match(samples, section, index, jobs):
            if not matches:
                yield sample
                continue
            write(sample, matches)
            first = matches[0]
            yield drop(sample, first.reason, f"{first.how} {first.score:.2f}: {first.benchmark}: {first.matched}")


def _match(
    samples: Iterable[Sample], section: Decontaminate, index: Index, jobs: int
) -> Iterator[tuple[Sample, list[Match]]]:
    from kengine.curate.code.tokens import Files
    from kengine.curate.code.workers import BATCH, sketch_all
    from kengine.curate.dedup_input import files_of

    waiting: deque[list[Sample]] = deque()

    def feed() -> Iterator[list[Files]]:
        batch: list[Sample] = []
        for sample in samples:
            batch.append(sample)
            if len(batch) == BATCH:
                waiting.append(batch)
                yield [files_of(s) for s in batch]
                batch = []
        if batch:
            waiting.append(batch)
            yield [files_of(s) for s in batch]

    for sketches in sketch_all(feed(), None, jobs):
        for n, sample in enumerate(waiting.popleft()):
            digest = (int(sketches.digests[n, 0]), int(sketches.digests[n, 1]))
            has_code = bool(sample.files or sample.completion)
            yield sample, index.find(sample, digest if has_code else None, sketches.shingles_of(n), section)


class _Audit:
    """The audit, which takes its name when all of it is written."""

    def __init__(self, path: Path | None, index: Index) -> None:
        self._path = path
        self._part = path.with_name(f".{path.name}.part") if path is not None else None
        self._index = index
        self._file: IO[str] | None = None

    def __enter__(self) -> _Audit:
        if self._part is not None:
            try:
                self._part.parent.mkdir(parents=True, exist_ok=True)
                self._file = self._part.open("w", encoding="utf-8")
            except OSError as error:
                raise UsageError(f"{self._path}: cannot be written: {error}") from error
            for line in self._index.describe():
                self._line(line)
        return self

    def __call__(self, sample: Sample, matches: list[Match]) -> None:
        """One dropped sample; the first of its matches decided."""
        first = {"schema": SCHEMA, "uid": sample.uid, "task": sample.task.name if sample.task else "",
                 "reason": matches[0].reason}  # fmt: skip
        self._line({**first, "matches": [match.to_json() for match in matches]})

    def _line(self, row: object) -> None:
        if self._file is not None:
            try:
                self._file.write(json.dumps(row) + "\n")
            except OSError as error:
                raise InfraError(f"{self._path}: cannot be written: {error}; nothing is half-written") from error

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if self._file is None or self._part is None or self._path is None:
            return
        try:
            self._file.close()
            if kind is None:
                self._part.replace(self._path)
        except OSError as problem:
            raise InfraError(f"{self._path}: cannot be written: {problem}; nothing is half-written") from problem
        finally:
            self._part.unlink(missing_ok=True)
