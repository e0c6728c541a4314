"""Rows of an export in batches, made by several processes where the corpus is large."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from math import isfinite

from kengine.curate import crew, jsontext
from kengine.curate.export.card import Tally
from kengine.curate.export.formats import FORMATS, Row, provenance
from kengine.curate.export.section import Export
from kengine.curate.export.splits import Splits
from kengine.curate.record import Sample
from kengine.curate.stage import Corpus
from kengine.curate.store import Segment

BATCH = 1000
WORTHWHILE = 20_000
"""Rows from which on starting processes pays."""

_MAX_REPEATS = 100

Key = tuple[str, str]
"""Format and split."""


@dataclass
class Batch:
    """What neighbouring samples become. lines: for files of lines, encoded.

    rows: for other files; a text beside a row means that only the first row of this text in the format is written.
    """

    lines: dict[Key, list[bytes]] = field(default_factory=dict)
    rows: list[tuple[Key, str, Row]] = field(default_factory=list)
    tally: Tally = field(default_factory=Tally)


def make(corpus: Corpus, splits: Splits, section: Export, jobs: int) -> Iterator[Batch]:
    """Batches in the order of the corpus."""
    by_lines = all(FORMATS[f].by_task or section.kind(f) == "jsonl" for f in section.formats)
    if jobs > 1 and by_lines and isinstance(corpus, Segment) and len(corpus) >= WORTHWHILE and corpus.settle():
        yield from crew.spread(partial(_work, corpus, splits, section), min(jobs, crew.MOST))
        return
    maker = _Maker(splits, section)
    samples = iter(corpus)
    while chunk := list(islice(samples, BATCH)):
        yield maker.make(chunk)


def _work(corpus: Segment, splits: Splits, section: Export, k: int, of: int) -> Iterator[Batch]:
    with corpus.reopen() as mine:
        maker = _Maker(splits, section)
        for begun in range(k * BATCH, len(mine), of * BATCH):
            yield maker.make(islice((sample for _, sample in mine.read(begun)), BATCH))


class _Maker:
    """Makes batches; the digest of a task is worked out once."""

    def __init__(self, splits: Splits, section: Export) -> None:
        self._splits = splits
        self._section = section
        self._digests: dict[int, tuple[object, str]] = {}

    def make(self, samples: Iterable[Sample]) -> Batch:
        """All rows of some samples."""
        batch = Batch()
        for sample in samples:
            split, digest = self._splits.find(sample.group), self._digest(sample)
            batch.tally.samples += 1
            if sample.sampling:
                batch.tally.bill.add(sample.usage())
            for _ in range(self._times(sample)):
                self._add(batch, sample, split, digest)
        return batch

    def _add(self, batch: Batch, sample: Sample, split: str, digest: str) -> None:
        told = provenance(sample, digest)
        batch.tally.add(told, split, sample.group)
        # of what provenance tells only these two are numbers that a source or a clock may have spoilt
        finite = isfinite(told["weight"]) and (told["speedup"] is None or isfinite(told["speedup"]))
        for format in self._section.formats:
            kind = FORMATS[format]
            row = kind.make(sample, told, self._section)
            if kind.by_task:
                batch.rows.append(((format, split), f"{digest} {sample.backend}", row))
            elif self._section.kind(format) == "jsonl":
                encode = jsontext.encode_finite if finite and kind.plain else jsontext.encode
                batch.lines.setdefault((format, split), []).append(encode(row) + b"\n")
            else:
                batch.rows.append(((format, split), "", row))

    def _times(self, sample: Sample) -> int:
        if self._section.weights != "repeat":
            return 1
        return min(max(round(sample.weight), 1), _MAX_REPEATS)

    def _digest(self, sample: Sample) -> str:
        task = sample.task
        if task is None:
            return ""
        found = self._digests.get(id(task))
        if found is None or found[0] is not task:
            if len(self._digests) > 4096:
                self._digests.clear()
            found = self._digests[id(task)] = (task, task.digest)
        return found[1]
