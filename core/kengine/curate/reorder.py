"""Samples of a corpus in another order than the one they lie in, without holding them in memory."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path

from kengine.curate import rows
from kengine.curate.record import Sample
from kengine.curate.stage import Corpus
from kengine.curate.store import Segment
from kengine.model import Task


def pick(corpus: Corpus, order: Sequence[int], scratch: Path) -> Iterator[Sample]:
    """Samples by their 0-based numbers, in the order given.

    The store of a run finds a sample by its number; another corpus is written to a file in `scratch` first, its
    tasks, each once, stay in memory.
    """
    if isinstance(corpus, Segment):
        yield from corpus.pick(order)
        return
    path, offsets, tasks = scratch / "samples", array("Q", [0]), dict[str, Task]()
    digests: dict[int, tuple[Task, str]] = {}
    with path.open("w+b") as file:
        for sample in corpus:
            digest = ""
            if sample.task is not None:
                known = digests.get(id(sample.task))
                if known is None or known[0] is not sample.task:
                    known = digests[id(sample.task)] = (sample.task, sample.task.digest)
                digest = known[1]
                tasks.setdefault(digest, sample.task)
            offsets.append(offsets[-1] + file.write(rows.encode(sample, digest)))
        for number in order:
            file.seek(offsets[number])
            yield rows.decode(file.read(offsets[number + 1] - offsets[number]), tasks.__getitem__)
