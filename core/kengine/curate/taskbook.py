"""Tasks of samples: cheaply made from text, found by name in a folder, and the same object for the same text."""

from __future__ import annotations

import re
from collections import OrderedDict
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any

from kengine import tasks
from kengine.curate.record import Sample
from kengine.errors import TaskError, UsageError
from kengine.model import Task, TaskSpec
from kengine.tasks.form import explain_near_miss, find_form
from kengine.tasks.source import normalise, read_text

_KEPT = 4096
_HEAD = re.compile(r"^(?:async\s+def|def|class)\s+([A-Za-z_]\w*)|^([A-Za-z_]\w*)\s*(?::[^=\n]+)?=(?!=)", re.MULTILINE)
_BLOCK = re.compile(r"^# ///\s*kengine", re.MULTILINE)
_made: OrderedDict[tuple[str, str, str], Task] = OrderedDict()


def make(text: str, name: str, path: str = "", **spec: Any) -> Task:
    """A task from its text, checked only as far as its names go; the judge checks the rest.

    A text with a `# /// kengine` block is parsed in full. `spec`: fields of TaskSpec that the text does not give
    itself. The same text and name give the same object. Raises TaskError naming what is missing.
    """
    given = {key: value for key, value in spec.items() if value not in (None, "", ())}
    key = (name, text, repr(given))
    task = _made.get(key)
    if task is None:
        task = _made[key] = _make(text, name, path, given)
        if len(_made) > _KEPT:
            _made.popitem(last=False)
    else:
        _made.move_to_end(key)
    return task


def _make(text: str, name: str, path: str, given: dict[str, Any]) -> Task:
    text = normalise(text)
    path = path or f"{name}.py"
    if _BLOCK.search(text):
        task = tasks.parse_task(text, path)
        missing = {k: v for k, v in given.items() if getattr(task.spec, k) in (None, "", ())}
        return replace(task, spec=replace(task.spec, **missing)) if missing else task
    names = {a or b for a, b in _HEAD.findall(text)}
    form = find_form(names)
    if form is None:
        raise explain_near_miss(names, path) or TaskError(f"{path}: holds no task")
    return Task(name, form.name, text, path, TaskSpec(**given))


class TaskBook:
    """Tasks that rows refer to by name (`labels["task"]`): files of a folder, or below the source itself."""

    def __init__(self, given: Path | None, beside: Path) -> None:
        self._folders = [given] if given is not None else [beside]
        self._files: dict[str, Path] | None = None
        self._read: dict[str, Task | str] = {}
        self._digests: OrderedDict[int, tuple[Task, str]] = OrderedDict()
        if given is not None and not given.exists():
            raise UsageError(f"tasks: {given}: no such file or folder")

    def find(self, sample: Sample) -> tuple[Task | None, str]:
        """The task of a sample and "", or None and why its name leads nowhere; None and "" when it names none."""
        if sample.task is not None:
            return sample.task, ""
        name = sample.labels.get("task")
        if not isinstance(name, str) or not name:
            return None, ""
        if name not in self._read:
            self._read[name] = self._load(name)
        found = self._read[name]
        return (found, "") if isinstance(found, Task) else (None, found)

    def digest(self, task: Task) -> str:
        """The task's digest, worked out once for each object."""
        known = self._digests.get(id(task))
        if known is None or known[0] is not task:
            known = self._digests[id(task)] = (task, task.digest)
            if len(self._digests) > _KEPT:
                self._digests.popitem(last=False)
        return known[1]

    def _load(self, name: str) -> Task | str:
        path = self._names().get(name) or self._names().get(PurePath(name).stem)
        if path is None:
            return (
                f"no task {name!r} in {self._folders[0]}; there are: {', '.join(sorted(self._names())[:8]) or 'none'}"
            )
        try:
            return make(read_text(path), path.stem, path.name)
        except UsageError as error:
            return str(error)

    def _names(self) -> dict[str, Path]:
        if self._files is None:
            self._files = {}
            for folder in self._folders:
                files = [folder] if folder.is_file() else sorted(folder.rglob("*.py"))
                for file in files:
                    self._files.setdefault(file.stem, file)
                    self._files.setdefault(str(file.relative_to(folder) if folder.is_dir() else file.name), file)
        return self._files
