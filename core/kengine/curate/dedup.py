"""Stage `dedup`: of samples whose code is the same but for what people change when they copy, one is kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kengine.curate.record import Outcome, Sample, drop, label
from kengine.curate.stage import Context, Corpus, Stage
from kengine.errors import UsageError

if TYPE_CHECKING:
    from kengine.curate.code.clusters import Clusters
    from kengine.curate.code.shelf import Shelf


@dataclass(frozen=True)
class Dedup:
    """[dedup]: near: also join code that is similar, not only what is equal once names, comments, layout and literals
    are left out. threshold: Jaccard similarity of shingles from which on code of one task counts as similar.

    taskless_threshold: the same for samples without a task in common, whose code must also name the same functions,
    operators and types. across_tasks: compare samples of different tasks too, in that way.

    clusters: file that lists every cluster of more than one sample; "" is `clusters.jsonl` in the run's folder, and
    none for a stage that stands alone.
    """

    near: bool = True
    threshold: float = 0.8
    taskless_threshold: float = 0.9
    across_tasks: bool = False
    clusters: str = ""

    def __post_init__(self) -> None:
        for name in ("threshold", "taskless_threshold"):
            if not 0.5 <= getattr(self, name) <= 1.0:
                raise UsageError(f"{name}: want 0.5 to 1, got {getattr(self, name):g}")

    @property
    def least(self) -> float:
        """The lowest similarity that counts anywhere."""
        return min(self.threshold, self.taskless_threshold)


def build(section: Dedup, context: Context) -> Stage:
    """The stage. Raises UsageError when the parsers are not installed."""
    from kengine.curate.code.tokens import check_installed

    check_installed()
    listed = find_output(section.clusters, "clusters.jsonl", context)

    def run(corpus: Corpus) -> Iterator[Outcome]:
        return _run(corpus, section, context.scratch("dedup"), context.jobs, listed)

    return Stage("dedup", "whole", run)


def dedup(samples: Sequence[Sample], section: Dedup | None = None, jobs: int = 1) -> Iterator[Outcome]:
    """Deduplicate samples outside a run, in their order. Raises UsageError, InfraError."""
    from kengine.engine.scratch import Scratch

    section = section or Dedup()
    with Scratch("dedup") as folder:
        yield from _run(samples, section, folder, jobs, Path(section.clusters) if section.clusters else None)


def find_output(given: str, name: str, context: Context) -> Path | None:
    """Where a stage writes a file of its own: where its table says, else in the run's folder, else nowhere."""
    if given:
        return context.settings.base / given
    return context.folder / name if context.store is not None else None


def _run(corpus: Corpus, section: Dedup, folder: Path, jobs: int, listed: Path | None) -> Iterator[Outcome]:
    import numpy as np

    from kengine.curate.code.clusters import find_clusters
    from kengine.curate.code.shelf import Shelf
    from kengine.curate.code.sketch import bands_for
    from kengine.curate.dedup_input import fill
    from kengine.curate.dedup_report import write_clusters

    with Shelf(folder, bands_for(section.least)[0] if section.near else 0) as shelf:
        order, pooled = fill(shelf, corpus, section, jobs)
        thresholds = np.where(pooled, section.taskless_threshold, section.threshold)
        clusters = find_clusters(shelf, order, thresholds if section.near else None)
        if listed is not None:
            write_clusters(listed, shelf, clusters, order)
        for n, sample in enumerate(corpus):
            yield _decide(sample, n, shelf, clusters)


def _decide(sample: Sample, n: int, shelf: Shelf, clusters: Clusters) -> Outcome:
    kept = int(clusters.representative[n])
    if kept == n:
        return label(sample, cluster=sample.uid, cluster_size=int(clusters.sizes[n]))
    uid = shelf.name_of(kept)
    if clusters.exact[n]:
        return drop(sample, "exact_duplicate", f"of {uid}: the same but for names, comments, layout and literals")
    return drop(sample, "near_duplicate", f"of {uid}: similarity {clusters.similarity[n]:.2f}")
