"""What a stage is, and what it is given."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from kengine.curate.record import Outcome, Sample

if TYPE_CHECKING:
    from kengine.curate.funnel import Funnel
    from kengine.curate.record import Loss
    from kengine.curate.settings import Settings
    from kengine.curate.store import Store

Kind = Literal["source", "row", "stream", "whole", "sink"]


class Corpus(Protocol):
    """The samples that a stage begins with: iterate it as often as needed, each time from the start, in order."""

    def __iter__(self) -> Iterator[Sample]: ...

    def __len__(self) -> int: ...


@dataclass(frozen=True)
class Context:
    """What a stage may use: the settings of the run, the run's folder, the store behind it, and how many jobs.

    scratch(name): a folder for a stage's own temporary data, emptied before the stage begins and removed afterwards.
    shared: what stages have in common, by name (engines, for instance).
    """

    settings: Settings
    folder: Path
    jobs: int = 1
    store: Store | None = None
    shared: dict[object, Any] = field(default_factory=dict)

    def scratch(self, name: str) -> Path:
        """An empty folder for one stage."""
        import shutil

        path = self.folder / "scratch" / name
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)
        return path


@dataclass(frozen=True)
class Stage:
    """One stage, ready to run; `run` is called according to `kind`:

    source  run(start: int) -> Iterator[Outcome]; the first `start` outcomes are left out (they are in the store)
    row     run(sample) -> Iterable[Outcome]; knows no other sample; what it yields replaces the sample
    stream  run(samples: Iterator[Sample]) -> Iterator[Iterable[Outcome]]; exactly one result for each sample, in their
            order; may draw ahead by a bounded number
    whole   run(corpus: Corpus) -> Iterator[Outcome]; sees all samples, as often as it likes; interrupted, begins anew
    sink    run(corpus: Corpus, funnel: Funnel, losses: Iterable[Loss]) -> None; writes files, changes no sample

    adds: it may yield more outcomes than it took samples in. close: called once, whatever happened.
    split, size: of a source that several processes may read together, and how many bytes it has to read.
    split(wanted) gives what run(0) gives, but may give None for an outcome whose 0-based number is not wanted.
    """

    name: str
    kind: Kind
    run: Callable[..., Any]
    adds: bool = False
    close: Callable[[], None] = lambda: None
    split: Callable[[Callable[[int], bool]], Iterator[Outcome | None]] | None = None
    size: int = 0


RowRun = Callable[[Sample], Iterable[Outcome]]
StreamRun = Callable[[Iterator[Sample]], Iterator[Iterable[Outcome]]]
WholeRun = Callable[[Corpus], Iterator[Outcome]]
SinkRun = Callable[["Corpus", "Funnel", "Iterable[Loss]"], None]
Build = Callable[[Any, Context], Stage]
"""What the module of a stage offers as `build(section, context)`: `section` is its table of curate.toml."""
