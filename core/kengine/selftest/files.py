"""The corpus on disk: tasks, and for each backend a folder of hacks and one of honest kernels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from kengine.errors import UsageError
from kengine.model import Task
from kengine.selftest.entry import LANGUAGES, CorpusError, Entry, read_entry
from kengine.tasks import Item, pair, parse_task
from kengine.tasks.block import suggest
from kengine.tasks.source import read_text

TASKS = "tasks"
KINDS = ("hacks", "honest")


@dataclass(frozen=True)
class Corpus:
    """All entries in order of their names, and the tasks that they name."""

    folder: Path
    entries: tuple[Entry, ...]
    tasks: Mapping[str, Task]

    @property
    def backends(self) -> tuple[str, ...]:
        """Backends that have entries."""
        return tuple(dict.fromkeys(entry.backend for entry in self.entries))

    def item(self, entry: Entry) -> Item:
        """What the engine judges: the candidate under a name that says nothing, and its task."""
        made = pair(entry.text, self.tasks[entry.task], f"candidate{entry.suffix}")
        return Item(made.candidate, made.task, entry.name)

    def select(self, names: Iterable[str]) -> Corpus:
        """Only the entries whose name ends in one of these parts. Raises UsageError for one that matches none."""
        wanted = list(names)
        for name in wanted:
            if not any(_matches(entry.name, name) for entry in self.entries):
                stems = [entry.name.split("/")[-1] for entry in self.entries]
                raise UsageError(f"no entry {name!r} in {self.folder}{suggest(name.split('/')[-1], stems)}")
        kept = tuple(e for e in self.entries if any(_matches(e.name, name) for name in wanted))
        return Corpus(self.folder, kept, self.tasks)


def folder() -> Path:
    """Where the corpus lies: inside the installed package, or in the source tree that this package runs from.

    Raises CorpusError where there is neither.
    """
    here = Path(__file__).resolve().parent
    places = (here / "corpus", here.parents[2] / "tests" / "integrity" / "corpus")
    for place in places:
        if (place / TASKS).is_dir():
            return place
    raise CorpusError(f"no corpus in {' or '.join(map(str, places))}; install kengine from a wheel, or give --corpus")


def load(root: Path | None = None) -> Corpus:
    """Read every task and every entry. Raises CorpusError for the first that cannot be used."""
    root = root or folder()
    if not root.is_dir():
        raise CorpusError(f"{root}: is no folder; expected one with {TASKS}/ and BACKEND/{{{','.join(KINDS)}}}/")
    tasks = {path.stem: _read_task(path) for path in sorted((root / TASKS).glob("*.*")) if path.suffix in LANGUAGES}
    entries = []
    for path in sorted(root.glob("*/*/*")):
        if path.parent.name in KINDS and path.suffix in LANGUAGES:
            entry = read_entry(path)
            if entry.task not in tasks:
                near = suggest(entry.task, tasks)
                raise CorpusError(
                    f"{path}: task: {entry.task!r} is no task of this corpus{near}; there are: {', '.join(tasks)}"
                )
            entries.append(entry)
    if not entries:
        raise CorpusError(f"{root}: holds no entry; expected files in BACKEND/{{{','.join(KINDS)}}}/")
    return Corpus(root, tuple(entries), tasks)


def _read_task(path: Path) -> Task:
    try:
        return parse_task(read_text(path), path.name)
    except UsageError as error:
        raise CorpusError(f"{path.parent}: {error}") from error


def _matches(full: str, wanted: str) -> bool:
    return full == wanted or full.endswith("/" + wanted) or full.startswith(wanted.rstrip("/") + "/")
