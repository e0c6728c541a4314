"""One stage by itself: samples from files or folders in, samples out."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import click

from kengine.curate import flow, pipeline, rows, settings
from kengine.curate.funnel import Funnel, Ledger
from kengine.curate.load import load
from kengine.curate.pipeline import Watch
from kengine.curate.record import Loss, Sample
from kengine.curate.settings import Settings, Source
from kengine.curate.stage import Context, Stage
from kengine.curate.store import NAME, Store
from kengine.engine.scratch import Scratch
from kengine.errors import InfraError, UsageError
from kengine.report.plain import clean

LOAD = "load"
"""The stage that a stage alone begins with; what it loses is no secret."""


class Samples:
    """The samples of some sources, read anew each time; what cannot be read as a sample is told once and counted.

    read: rows seen so far. lost: those that are no samples, by reason.
    """

    def __init__(self, sources: Sequence[Source], base: Path) -> None:
        self._sources = sources
        self._base = base
        self._count: int | None = None
        self.read = 0
        self.lost = Counter[str]()

    def __iter__(self) -> Iterator[Sample]:
        for number, outcome in enumerate(load(self._sources, self._base), 1):
            if number > self.read:
                self.read = number
                if isinstance(outcome, Loss):
                    self.lost[outcome.reason] += 1
                    _tell(outcome)
            if isinstance(outcome, Sample):
                # a file of samples was named by the run that wrote it
                yield outcome

    def losses(self) -> Iterator[Loss]:
        """What cannot be read as a sample, read anew each time."""
        return (replace(o, stage=LOAD) for o in load(self._sources, self._base) if isinstance(o, Loss))

    def __len__(self) -> int:
        if self._count is None:
            self._count = sum(1 for _ in self)
        return self._count


def run_alone(
    name: str, paths: Sequence[str], config: Path | None, given: Sequence[str], out: Path | None, jobs: int | None,
    watch: Watch,
) -> Funnel:  # fmt: skip
    """Run one stage; samples go to `out` (None: stdout), an export into that folder. Gives the counts.

    config: a curate.toml whose table of the stage counts; given: `key=value` over it. Raises UsageError.
    """
    if not paths:
        raise UsageError(f"kengine curate {name}: give files or folders of samples")
    if name in settings.SINKS and len(paths) == 1 and (Path(paths[0]) / NAME).is_file():
        return _run_on_store(name, Path(paths[0]), config, given, out, jobs, watch)
    sources = tuple(Source(str(Path(p).absolute()), Path(p).name or str(p)) for p in paths)
    read = settings.alone(name, config, given, sources, out or Path("curated"))
    corpus = Samples(sources, read.base)
    with Scratch("curate") as scratch:
        folder = (out or Path("curated")).parent if name in settings.SINKS else scratch
        context = Context(read, folder, jobs or read.jobs or len(os.sched_getaffinity(0)))
        stage = pipeline.build_stage(name, read, context)
        try:
            return _run(stage, corpus, read, out, watch)
        finally:
            stage.close()


def _run_on_store(
    name: str, folder: Path, config: Path | None, given: Sequence[str], out: Path | None, jobs: int | None,
    watch: Watch,
) -> Funnel:  # fmt: skip
    """Write anew from what a run left in its folder, with its losses and counts."""
    read = settings.alone(name, config, given, (), out or folder / settings.STAGES[name].record()().folder)
    store = Store(folder)
    try:
        last = store.last()
        if last is None:
            raise UsageError(f"{folder}: its run is not done; `kengine curate` with its curate.toml goes on with it")
        context = Context(read, out.parent if out is not None else folder, jobs or 1, store)
        stage = pipeline.build_stage(name, read, context)
        funnel = store.funnel()
        watch(name, 0, len(last))
        stage.run(last, funnel, store.losses())
        return funnel
    finally:
        store.close()


def _run(stage: Stage, corpus: Samples, read: Settings, out: Path | None, watch: Watch) -> Funnel:
    funnel = Funnel()
    if stage.kind == "sink":
        watch(stage.name, 0, len(corpus))
        _count_loading(corpus, funnel)
        stage.run(corpus, funnel, corpus.losses())
        funnel.record(stage.name, len(corpus), len(corpus), {})
        return funnel
    if stage.kind != "source":
        funnel[LOAD]
    funnel[stage.name]
    ledger = Ledger(funnel)
    position = 0
    with _open(out) as write:
        for position, outcome in _outcomes(stage, corpus, ledger):
            if isinstance(outcome, Loss):
                _tell(outcome)
            else:
                write.line(rows.to_line(outcome))
            if position % 100 == 0:
                watch(stage.name, position, 0)
    funnel = ledger.settle(position)
    if stage.kind != "source":
        _count_loading(corpus, funnel)
    funnel.check()
    return funnel


def _count_loading(corpus: Samples, funnel: Funnel) -> None:
    funnel.record(LOAD, corpus.read, corpus.read - sum(corpus.lost.values()), corpus.lost)


def _tell(loss: Loss) -> None:
    print(clean(f"{loss.uid}: {loss.reason}: {loss.detail}", lines=False), file=sys.stderr)


def _outcomes(stage: Stage, corpus: Samples, ledger: Ledger) -> Iterator[tuple[int, Any]]:
    if stage.kind == "source":
        return flow.source(stage, 0, ledger)
    if stage.kind == "whole":
        return enumerate(flow.whole(stage, stage.run(corpus), len(corpus), ledger), 1)
    return flow.run([stage], enumerate(corpus, 1), ledger)


class _open:
    """A file that takes its name when all of it is written; stdout for None."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._part = path.with_name(f".{path.name}.part") if path is not None else None
        self._file: IO[bytes] | None = None

    def __enter__(self) -> _open:
        if self._part is not None:
            try:
                self._part.parent.mkdir(parents=True, exist_ok=True)
                self._file = self._part.open("wb")
            except OSError as error:
                raise UsageError(f"{self._path}: cannot be written: {error}") from error
        return self

    def line(self, text: bytes) -> None:
        """Write one line. Raises InfraError when the disk is full."""
        try:
            if self._file is None:
                click.echo(text)
            else:
                self._file.write(text + b"\n")
        except BrokenPipeError:
            raise
        except OSError as error:
            raise InfraError(f"{self._path}: cannot be written: {error}; nothing is half-written") from error

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if self._part is None or self._path is None or self._file is None:
            return
        try:
            self._file.close()
            if kind is None:
                self._part.replace(self._path)
        except OSError as problem:
            raise InfraError(f"{self._path}: cannot be written: {problem}; nothing is half-written") from problem
        finally:
            self._part.unlink(missing_ok=True)
