"""The tasks that samples name: those of `tasks` in [[source]], in whatever format, or files beside the source."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterator
from itertools import islice
from pathlib import Path, PurePath

from kengine.curate import format as formats
from kengine.curate import taskbook
from kengine.curate.record import Loss, Sample, evolve
from kengine.errors import UsageError
from kengine.model import Task
from kengine.tasks.source import read_text

LACK = "missing_task"
"""Label of a sample without a task: what it would have to say to have one."""

FILES = "completion-files"
"""The format whose samples name their task by where they lie, and need not name one."""

_KEPT = 4096
_SHOWN = 8
_TRIED = 500
_NUMBERED = re.compile(
    r"(?:[_.~ -]+(?:sample|attempt|try|answer|candidate|completion|v|k|n)?[_-]?\d+)+\Z", re.IGNORECASE
)


class TaskBook:
    """Tasks by name: those of a file or folder that any loader reads, else the files beside a source.

    given: `tasks` of a source, None when it has none; beside: where its files lie. Raises UsageError when `given` is
    not there or holds no task, with what was found instead.
    """

    def __init__(self, given: Path | None, beside: Path) -> None:
        self._given = given
        self._place = given if given is not None else beside
        self._named: dict[str, Task | str] = {}
        """By every name that leads to it; a text says why there is none."""
        self._shown: list[str] = []
        self._looked = False
        self._files: dict[str, Path] | None = None
        self._digests: OrderedDict[int, tuple[Task, str]] = OrderedDict()
        self._sole: Task | None = None
        if given is not None:
            self._open(given)

    def find(self, sample: Sample, format: str = "") -> tuple[Sample, str]:
        """The sample with its task, and "" or why the name that it gives leads nowhere.

        A sample without a task and without a name of one gets the label LACK, unless it has a prompt.
        """
        if sample.task is not None:
            return sample, ""
        if format == FILES:
            return self._find_file(sample), ""
        name = sample.labels.get("task")
        if isinstance(name, str) and name:
            found = self.named(name)
            return (evolve(sample, task=found), "") if isinstance(found, Task) else (sample, found)
        if self._sole is not None:
            return evolve(sample, task=self._sole), ""
        if sample.prompt or LACK in sample.labels:
            return sample, ""
        return _lacking(sample, self._explain_row(format)), ""

    def named(self, name: str) -> Task | str:
        """The task of a name, or why there is none."""
        found = self._named.get(name)
        if found is None:
            path = self._paths().get(name) or self._paths().get(PurePath(name).stem)
            if path is None:  # not kept: a corpus may name a million that are not there
                return f"no task {name!r} in {self._place}; there are: {', '.join(self.names()) or 'none'}"
            found = self._named[name] = _load(path)
        return found

    def digest(self, task: Task) -> str:
        """The task's digest, worked out once for each object."""
        known = self._digests.get(id(task))
        if known is None or known[0] is not task:
            known = self._digests[id(task)] = (task, task.digest)
            if len(self._digests) > _KEPT:
                self._digests.popitem(last=False)
        return known[1]

    def names(self) -> list[str]:
        """Names of the first few tasks that are there."""
        if not self._shown and not self._looked:
            self._shown, self._looked = list(islice(self._in_files(), _SHOWN)), True
        return self._shown

    def _open(self, given: Path) -> None:
        if not given.exists():
            raise UsageError(f"tasks: {given}: no such file or folder")
        problem = ""
        if given.is_dir() or given.suffix != ".py":
            try:
                loader = formats.find(formats.look(given))
                if loader.format != FILES:
                    self._read(loader)
                    problem = f"it was read as {loader.format}, and no row of it is a task: {self._first_problem()}"
            except UsageError as error:
                problem = str(error)
        names = self.names()
        if not names:
            raise UsageError(
                f"tasks: {given}: holds no task: {problem or self._what_files()}; formats of tasks: "
                f"{', '.join(name for name in formats.formats() if name != FILES)}, or files that define `reference` "
                "and `make_inputs`"
            )
        if given.is_file() and len(names) == 1:
            only = self.named(names[0])
            self._sole = only if isinstance(only, Task) else None

    def _read(self, loader: formats.Loader) -> None:
        """Tasks of a source by the names that rows may give: its own, that of its file, its problem and its place."""
        for outcome in loader.read():
            if isinstance(outcome, Loss):
                self._named.setdefault(outcome.uid, outcome.detail)
                self._named.setdefault(_stem(outcome.uid), outcome.detail)
            elif outcome.task is not None:
                task = outcome.task
                if task.name not in self._shown and len(self._shown) < _SHOWN:
                    self._shown.append(task.name)
                labels = [outcome.labels.get(key) for key in ("operator", "problem")]
                place = [] if re.search(r":\d+$", outcome.origin) else [_stem(outcome.origin)]
                for name in dict.fromkeys((task.name, outcome.origin, *place, *labels)):
                    if isinstance(name, str) and name:
                        self._name(name, task)

    def _name(self, name: str, task: Task) -> None:
        """Let a name lead to a task; one that leads to two says so, but a task's own name comes before others."""
        known = self._named.get(name)
        if isinstance(known, Task) and self.digest(known) != self.digest(task):
            if (known.name == name) != (task.name == name):
                self._named[name] = known if known.name == name else task
            else:
                self._named[name] = f"{name!r} may be {known.name!r} or {task.name!r} in {self._place}: name the one"
        elif known is None or (isinstance(known, str) and task.name == name and " may be " not in known):
            self._named[name] = task

    def _find_file(self, sample: Sample) -> Sample:
        """The task of a file: of the nearest folder on its path that is called like one, else of its own name."""
        path = PurePath(sample.origin)
        numbered = _NUMBERED.sub("", path.stem)
        for name in (*reversed(path.parent.parts), path.stem, numbered):
            if name and isinstance(found := self.named(name), Task) and not self._is(found, sample):
                return evolve(sample, task=found, labels={**sample.labels, "task": found.name})
        if self._sole is not None:
            return evolve(sample, task=self._sole, labels={**sample.labels, "task": self._sole.name})
        labels = {key: value for key, value in sample.labels.items() if key != "task"}
        return _lacking(evolve(sample, labels=labels), self._explain_file(path))

    def _is(self, task: Task, sample: Sample) -> bool:
        """Whether a file that was found by its own name is the sample itself."""
        return bool(sample.files) and task.source == sample.files[0].text

    def _paths(self) -> dict[str, Path]:
        if self._files is None:
            self._files = {}
            place = self._place
            files = [place] if place.is_file() else sorted(place.rglob("*.py"))
            for file in files:
                if file.suffix == ".py":
                    self._files.setdefault(file.stem, file)
                    self._files.setdefault(str(file.relative_to(place) if place.is_dir() else file.name), file)
        return self._files

    def _in_files(self) -> Iterator[str]:
        """Names of the files that hold a task, as far as the first few hundred tell."""
        for path in islice(dict.fromkeys(self._paths().values()), _TRIED):
            if isinstance(_load(path), Task):
                yield path.stem

    def _first_problem(self) -> str:
        return next((found for found in self._named.values() if isinstance(found, str)), "they hold candidates only")

    def _what_files(self) -> str:
        """What files that are none have instead."""
        said = (_load(path) for path in islice(dict.fromkeys(self._paths().values()), _TRIED))
        wrong = next((text for text in said if isinstance(text, str)), "")
        found = [self._place.name] if self._place.is_file() else list(formats.look(self._place).files)
        more = ", ..." if len(found) > _SHOWN else ""
        return f"it has {', '.join(found[:_SHOWN])}{more}{f' ({wrong})' if wrong else ''}"

    def _explain_file(self, path: PurePath) -> str:
        there = f"; tasks in {self._place}: {', '.join(self.names())}" if self._given is not None else (
            '; tasks = "FOLDER" in [[source]] says where tasks lie'
        )  # fmt: skip
        return (
            f"{path} does not say which task it is for: put it into a folder called like the task (TASK/{path.name}), "
            f"or call it TASK_1{path.suffix}, or let it define `reference` and `make_inputs` itself{there}"
        )

    def _explain_row(self, format: str) -> str:
        if format != "completions":
            return ""
        where = f"one in {self._given}: {', '.join(self.names())}" if self._given is not None else (
            'one in the folder that tasks = "FOLDER" in [[source]] gives'
        )  # fmt: skip
        return f"the row has neither a prompt nor a field 'task' (the text of a task, or the name of {where})"


def _lacking(sample: Sample, what: str) -> Sample:
    return evolve(sample, labels={**sample.labels, LACK: what}) if what else sample


def _load(path: Path) -> Task | str:
    try:
        return taskbook.make(read_text(path), path.stem, path.name)
    except UsageError as error:
        return str(error)


def _stem(origin: str) -> str:
    return PurePath(origin).stem
