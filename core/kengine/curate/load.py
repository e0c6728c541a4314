"""Stage `load`: every source in turn, each row a sample with a name of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

from kengine.curate import format as formats
from kengine.curate import prompts
from kengine.curate.lookup import TaskBook
from kengine.curate.record import Loss, Outcome, Sample, drop, evolve
from kengine.curate.settings import Settings, Source
from kengine.curate.stage import Context, Stage
from kengine.errors import UsageError


@dataclass(frozen=True)
class Load:
    """[load]: licenses: keep only samples under one of these (as the source says them, case aside); empty keeps all."""

    licenses: tuple[str, ...] = ()


def build(section: Load, context: Context) -> Stage:
    """The stage. Raises UsageError at once for a source that is not there or that no loader knows."""
    settings = context.settings
    opened = [
        open_source(source, settings.base, len(settings.sources) == 1, partial(_fail, settings, n))
        for n, source in enumerate(settings.sources)
    ]
    _check_unchanged(opened, context)

    def run(start: int) -> Iterator[Outcome]:
        every = (outcome for each in opened for outcome in each.read(section))
        return islice(every, start, None)

    def split(wanted: Callable[[int], bool]) -> Iterator[Outcome | None]:
        before = 0
        for each in opened:
            count = 0
            for outcome in each.read_some(section, partial(_beyond, wanted, before)):
                count += 1
                yield outcome
            before += count

    splits = all(each.loader.split is not None and each.source.role != "tasks" for each in opened)
    return Stage("load", "source", run, split=split if splits else None, size=sum(_size(each.path) for each in opened))


def load(sources: Sequence[Source], base: Path, section: Load | None = None) -> Iterator[Outcome]:
    """Read sources outside a run. Raises UsageError."""
    for each in open_all(sources, base):
        yield from each.read(section or Load())


@dataclass(frozen=True)
class Opened:
    """A source whose loader is known. sole: there is no other, so that samples of an earlier run keep their names."""

    source: Source
    path: Path
    loader: formats.Loader
    tasks: TaskBook
    sole: bool = False

    def read(self, section: Load) -> Iterator[Outcome]:
        """Its samples and losses, completed by what the source's table says; where only tasks are wanted, each once."""
        firsts: dict[str, str] = {}
        for number, outcome in enumerate(self.loader.read()):
            if self.source.limit is not None and number >= self.source.limit:
                return
            made = self._complete(outcome, section)
            if self.source.role == "tasks" and isinstance(made, Sample) and made.task is not None:
                digest = self.tasks.digest(made.task)
                first = firsts.setdefault(digest, made.uid)
                if first != made.uid:
                    made = drop(made, "same_task", f"that of {first}")
            yield made

    def read_some(self, section: Load, wanted: Callable[[int], bool]) -> Iterator[Outcome | None]:
        """As `read`, with None for outcomes whose 0-based number is not wanted."""
        assert self.loader.split is not None
        for number, outcome in enumerate(self.loader.split(wanted)):
            if self.source.limit is not None and number >= self.source.limit:
                return
            yield None if outcome is None else self._complete(outcome, section)

    def _complete(self, outcome: Outcome, section: Load) -> Outcome:
        name = self.source.name
        if isinstance(outcome, Loss):
            return Loss(f"{name}:{outcome.uid}", outcome.reason, outcome.detail, "", "", {"source": name})
        source = self.source
        outcome, problem = self.tasks.find(outcome, self.loader.format)
        task = outcome.task
        sample = evolve(
            outcome,
            uid=(outcome.uid if self.sole else f"{name}:{outcome.uid}") if outcome.uid else f"{name}:{outcome.origin}",
            source=outcome.source or name,
            group=outcome.group or (self.tasks.digest(task) if task is not None else ""),
            backend=outcome.backend or source.backend,
            license=outcome.license or source.license or (task.spec.license if task else ""),
            model=outcome.model or source.model,
        )
        if source.role == "tasks":
            sample = prompts.adopt(evolve(sample, files=(), entry="", completion="", reasoning=""))
        if problem:
            return drop(sample, "no_task", problem)
        if section.licenses and sample.license.lower() not in {text.lower() for text in section.licenses}:
            return drop(sample, "license", f"its license is {sample.license or 'not given'!r}")
        return sample


def open_all(sources: Sequence[Source], base: Path) -> list[Opened]:
    """Find the loader of every source. Raises UsageError naming the source."""
    return [open_source(source, base, len(sources) == 1) for source in sources]


def open_source(
    source: Source, base: Path, sole: bool = False, fail: Callable[[str, str, str], UsageError] | None = None
) -> Opened:
    """Find the loader of a source. fail(source, key, problem): the error; default: a UsageError naming the source."""
    path = (base / source.path).expanduser()
    key = "path"
    try:
        glimpse = formats.look(path)
        key = "format" if source.format else key
        loader = formats.find(glimpse, source.format)
        key = "tasks"
        given = (base / source.tasks).expanduser() if source.tasks else None
        tasks = TaskBook(given, path.parent if path.is_file() else path)
    except UsageError as error:
        problem = str(error)
        raise fail(source.name, key, problem) if fail else UsageError(f"source {source.name}: {problem}") from error
    return Opened(source, path, loader, tasks, sole)


def _fail(settings: Settings, n: int, name: str, key: str, problem: str) -> UsageError:
    return settings.fail(f"source[{n}].{key}", f"source {name}: {problem.removeprefix(f'{key}: ')}")


def _check_unchanged(opened: Iterable[Opened], context: Context) -> None:
    """A run goes on by position, so its sources must be what they were."""
    if context.store is None:
        return
    for each in opened:
        key, now = f"source {each.source.name}", _state(each.path)
        before = context.store.meta(key)
        if before is None:
            context.store.set_meta(key, now)
        elif before != now and not context.store.segment(0).done:
            raise UsageError(
                f"source {each.source.name}: {each.path} has changed since the run in {context.folder} began, "
                "and that run is not done with it; --fresh begins anew"
            )


def _beyond(wanted: Callable[[int], bool], before: int, number: int) -> bool:
    return wanted(before + number)


def _size(path: Path) -> int:
    files = [path] if path.is_file() else (p for p in path.rglob("*") if p.is_file())
    return sum(f.stat().st_size for f in files)


def _state(path: Path) -> str:
    files = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
    stats = [f.stat() for f in files]
    return f"{len(files)} files, {sum(s.st_size for s in stats)} bytes, {max(s.st_mtime_ns for s in stats)}"


__all__ = ["Load", "Opened", "build", "load", "open_all", "open_source"]
