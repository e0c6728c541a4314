"""What a deduplication has to know of each sample: its sketch, whom it may be compared with, and how good it is."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterable, Iterator
from math import exp, log
from typing import TYPE_CHECKING

import numpy as np

from kengine.curate.code.bands import mix
from kengine.curate.code.model import F64, I64, Flags
from kengine.curate.code.tasks import digest_task
from kengine.curate.code.tokens import Files
from kengine.curate.code.workers import BATCH, sketch_all
from kengine.curate.record import Sample

if TYPE_CHECKING:
    from kengine.curate.code.shelf import Shelf
    from kengine.curate.dedup import Dedup

_WORST = 1e300


def fill(shelf: Shelf, corpus: Iterable[Sample], section: Dedup, jobs: int) -> tuple[I64, Flags]:
    """Sketch all samples onto the shelf; gives their places, best first, and which are compared whatever their task."""
    waiting: deque[_Batch] = deque()
    scores: list[F64] = []

    def feed() -> Iterator[list[Files]]:
        for batch in _batches(corpus, section):
            waiting.append(batch)
            yield batch.files

    count, pools = 0, list[Flags]()
    for sketches in sketch_all(feed(), section.least if section.near else None, jobs):
        batch = waiting.popleft()
        size = len(batch.names)
        groups = np.array(batch.groups, dtype=np.uint64)
        pooled = np.array(batch.pooled)
        # without a task in common, what names other functions, operators or types is something else
        groups[pooled] = mix(groups[pooled], sketches.vocabularies[pooled])
        digests, empty = sketches.digests, np.array([not f for f in batch.files])
        digests[empty] = np.stack([np.arange(count, count + size), np.zeros(size)], 1)[empty]
        shelf.add(sketches, groups, batch.names)
        scores.append(np.array(batch.scores, dtype=np.float64))
        pools.append(pooled)
        count += size
    shelf.finish()
    if not scores:
        return np.empty(0, np.int64), np.empty(0, np.bool_)
    return np.lexsort(np.concatenate(scores).T[::-1]), np.concatenate(pools)


def files_of(sample: Sample) -> list[tuple[str, str]]:
    """The code of a sample, also where it still stands in its completion; nothing when it has none."""
    if sample.files:
        return [(file.path, file.text) for file in sample.files]
    if not sample.completion:
        return []
    from kengine.curate.completion import parse, prefer

    code = parse(sample.completion, prefer(sample.backend)).code
    if not code.strip():
        return []
    return [("candidate.cu" if "__global__" in code and "import " not in code else "candidate.py", code)]


class _Batch:
    def __init__(self) -> None:
        self.files: list[Files] = []
        self.groups: list[int] = []
        self.pooled: list[bool] = []
        self.names: list[str] = []
        self.scores: list[tuple[float, ...]] = []


def _batches(corpus: Iterable[Sample], section: Dedup) -> Iterator[_Batch]:
    batch = _Batch()
    for sample in corpus:
        batch.files.append(files_of(sample))
        pooled = section.across_tasks or sample.task is None
        batch.groups.append(_group(sample, pooled))
        batch.pooled.append(pooled)
        batch.names.append(sample.uid)
        batch.scores.append(score(sample))
        if len(batch.names) == BATCH:
            yield batch
            batch = _Batch()
    if batch.names:
        yield batch


def _group(sample: Sample, pooled: bool) -> int:
    """Samples of one task, backend and variant are compared; without a task, those of one backend."""
    task = digest_task(sample.task)[0] if sample.task is not None and not pooled else 0
    variant = sample.labels.get("variant", "")
    h = hashlib.blake2b(f"{task}\0{sample.backend or sample.language}\0{variant}".encode(), digest_size=8)
    return int.from_bytes(h.digest(), "little")


def score(sample: Sample) -> tuple[float, ...]:
    """How good a sample is, smaller is better: verdict, targets passed on, speed, length of its code."""
    judged = sample.judgements
    verdict = 1 if not judged else 0 if sample.passed else 2
    kind, speed = 2, 0.0
    speedups = [j.speedup for j in judged if j.speedup]
    latencies = [j.latency_ns for j in judged if j.latency_ns]
    if speedups:
        kind, speed = 0, -exp(sum(map(log, speedups)) / len(speedups))
    elif latencies:
        kind, speed = 1, exp(sum(map(log, latencies)) / len(latencies))
    length = sum(len(file.text) for file in sample.files) or len(sample.completion) or _WORST
    return verdict, -sum(j.passed for j in judged), kind, speed, length
