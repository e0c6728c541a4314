"""Runs the stages of a curation one after the other, and goes on where an earlier run was stopped."""

from __future__ import annotations

import gc
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from kengine.curate import flow, shares
from kengine.curate.funnel import Funnel, Ledger
from kengine.curate.record import Loss, Sample
from kengine.curate.settings import STAGES, Settings
from kengine.curate.stage import Context, Stage
from kengine.curate.store import LossColumns, Segment, Store, describe
from kengine.errors import UsageError

COMMIT_ROWS = 2000
COMMIT_S = 1.0
"""A part of the input is committed after so many rows or so many seconds, whichever comes first."""

Watch = Callable[[str, int, int], None]
"""Called with the names of the stages at work, the rows done, and the rows in all (0 when unknown)."""


@dataclass(frozen=True)
class Result:
    """What a run leaves: its folder, the counts, the rows that survived, and seconds spent in each segment.

    examples: where nothing survived, one loss for each reason, as sentences.
    """

    folder: Path
    funnel: Funnel
    rows: int
    seconds: dict[str, float]
    examples: tuple[str, ...] = ()


def run(settings: Settings, *, watch: Watch = lambda *_: None, fresh: bool = False, jobs: int | None = None) -> Result:
    """Run all stages of the settings, or what an earlier run of the same settings left to be done.

    fresh: forget what an earlier run left in the folder. Raises UsageError when the folder holds a run of other
    settings or is in use, InfraError when the machine failed; everything committed so far is kept then.
    """
    folder = settings.out
    if fresh:
        _erase(folder)
    store = Store(folder)
    thresholds = gc.get_threshold()
    # samples hold no cycles; looking for some among thousands of them takes a tenth of the time
    gc.set_threshold(100_000, *thresholds[1:])
    try:
        _check_same(store, settings)
        context = Context(settings, folder, jobs or settings.jobs or len(os.sched_getaffinity(0)), store)
        return _run(build(settings, context), context, store, watch)
    finally:
        gc.set_threshold(*thresholds)
        store.close()
        shutil.rmtree(folder / "scratch", ignore_errors=True)


def build(settings: Settings, context: Context) -> list[Stage]:
    """The stages that the settings name, in order. Raises UsageError for what a stage cannot do with its table."""
    return [build_stage(name, settings, context) for name in settings.stages]


def build_stage(name: str, settings: Settings, context: Context) -> Stage:
    """One stage, by its name in `settings.STAGES`."""
    module = import_module(STAGES[name].module)
    stage: Stage = module.build(settings.section(name), context)
    return stage


def segments(stages: Sequence[Stage]) -> list[list[Stage]]:
    """Group stages into passes: rows and streams join the source or the stages before them, a whole stage is alone."""
    groups: list[list[Stage]] = []
    for stage in stages:
        if stage.kind == "sink":
            continue
        joins = groups and stage.kind in ("row", "stream") and groups[-1][0].kind != "whole"
        if joins:
            groups[-1].append(stage)
        else:
            groups.append([stage])
    return groups


def _run(stages: list[Stage], context: Context, store: Store, watch: Watch) -> Result:
    seconds: dict[str, float] = {}
    try:
        last: Segment | None = None
        for n, group in enumerate(segments(stages)):
            segment = store.segment(n)
            begun = time.perf_counter()
            if not segment.done:
                if last is None and shares.can_share(group, context.jobs):
                    _shared_pass(group, segment, context.jobs, watch)
                else:
                    _pass(group, last, segment, watch)
            seconds[" ".join(s.name for s in group)] = time.perf_counter() - begun
            if last is not None and not context.settings.keep_stages:
                store.forget(last.n)
            last = segment
        assert last is not None
        funnel = store.funnel()
        funnel.check()
        for stage in stages:
            if stage.kind == "sink":
                begun = time.perf_counter()
                watch(stage.name, 0, len(last))
                stage.run(last, funnel, store.losses())
                seconds[stage.name] = time.perf_counter() - begun
        examples = () if len(last) else tuple(store.examples())
        return Result(context.folder, funnel, len(last), seconds, examples)
    finally:
        for stage in stages:
            stage.close()


def _pass(group: list[Stage], before: Segment | None, segment: Segment, watch: Watch) -> None:
    names, total = " ".join(s.name for s in group), len(before) if before is not None else 0
    if group[0].kind == "whole":
        segment.clear()
    funnel = segment.steps()
    for stage in group:
        funnel[stage.name]  # a stage that no sample reaches has its line too
    ledger = Ledger(funnel)
    placed = _placed(group, before, segment, ledger)
    write = _Writer(segment, ledger)
    for position, outcome in placed:
        if write.turn(position):
            watch(names, segment.position, total)
        write.add(outcome)
    write.finish(total)
    watch(names, segment.position, total)


def _shared_pass(group: list[Stage], segment: Segment, jobs: int, watch: Watch) -> None:
    """The first pass with several processes, which read and encode; what they made is committed here."""
    names, funnel = " ".join(s.name for s in group), segment.steps()
    for stage in group:
        funnel[stage.name]
    texts: list[tuple[str, bytes]] = []
    tasks: list[tuple[str, str]] = []
    losses: list[LossColumns] = []
    position, since = segment.position, time.monotonic()
    for made in shares.share(group, position, jobs):
        position = made.position
        texts += made.samples
        tasks += made.tasks
        losses += made.losses
        funnel.merge(made.funnel)
        if len(texts) + len(losses) >= COMMIT_ROWS or time.monotonic() - since > COMMIT_S:
            segment.commit_texts(texts, tasks, losses, position, funnel, done=False)
            texts, tasks, losses, since = [], [], [], time.monotonic()
            watch(names, position, 0)
    segment.commit_texts(texts, tasks, losses, position, funnel, done=True)
    watch(names, position, 0)


def _placed(group: list[Stage], before: Segment | None, segment: Segment, ledger: Ledger) -> Iterator[flow.Placed]:
    first = group[0]
    if first.kind == "source":
        return flow.run(group[1:], flow.source(first, segment.position, ledger), ledger)
    assert before is not None
    if first.kind == "whole":
        outcomes = flow.whole(first, first.run(before), len(before), ledger)
        return enumerate(outcomes, 1)
    return flow.run(group, before.read(segment.position), ledger)


class _Writer:
    """Gathers outcomes and commits them whenever a position is complete and enough has come together."""

    def __init__(self, segment: Segment, ledger: Ledger) -> None:
        self._segment = segment
        self._ledger = ledger
        self._position = segment.position
        self._samples: list[Sample] = []
        self._losses: list[Loss] = []
        self._since = time.monotonic()

    def turn(self, position: int) -> bool:
        """Told the position of the next outcome: commit if the one before is complete; True when it did."""
        if position == self._position:
            return False
        full = len(self._samples) + len(self._losses) >= COMMIT_ROWS or time.monotonic() - self._since > COMMIT_S
        if full and self._position > self._segment.position:
            self._commit(done=False)
        self._position = position
        return full

    def add(self, outcome: Sample | Loss) -> None:
        """One more outcome of the position at hand."""
        if isinstance(outcome, Loss):
            self._losses.append(outcome)
        else:
            self._samples.append(outcome)

    def finish(self, total: int) -> None:
        """The input is at its end."""
        self._position = max(self._position, total)
        self._commit(done=True)

    def _commit(self, done: bool) -> None:
        funnel = self._ledger.settle(self._position)
        self._segment.commit(self._samples, self._losses, self._position, funnel, done)
        self._samples, self._losses, self._since = [], [], time.monotonic()


def _check_same(store: Store, settings: Settings) -> None:
    wanted = settings.fingerprint()
    text = store.meta("settings")
    if text is not None and json.loads(text) != wanted and store.is_blank():
        store.clear_meta()  # a run that failed before its first row binds nobody
        text = None
    if text is None:
        store.set_meta("settings", json.dumps(wanted))
        return
    found = json.loads(text)
    if found != wanted:
        _check_usable(settings)
        raise UsageError(
            f"{settings.out}: holds a run with other settings (they differ in: {describe(found, wanted)}); "
            "give `out` another folder, or --fresh to forget that run"
        )


def _check_usable(settings: Settings) -> None:
    """Raise what is wrong with settings whatever the folder holds: a target that does not exist, a missing source."""
    for stage in build(settings, Context(settings, settings.out)):
        stage.close()


def _erase(folder: Path) -> None:
    """Remove what a run keeps for itself; what it exported stays until the new export takes its place."""
    if not folder.exists():
        return
    Store(folder).close()  # refuses a folder that another run holds
    for path in folder.glob("curate.sqlite*"):
        path.unlink()


__all__ = ["COMMIT_ROWS", "COMMIT_S", "Result", "build", "build_stage", "run", "segments"]
