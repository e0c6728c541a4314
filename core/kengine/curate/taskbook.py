"""Tasks from their texts: cheaply made, and the same object for the same text."""

from __future__ import annotations

import re
from collections import OrderedDict
from dataclasses import replace
from typing import Any

from kengine import tasks
from kengine.errors import TaskError
from kengine.model import Task, TaskSpec
from kengine.tasks.form import explain_near_miss, find_form
from kengine.tasks.source import normalise

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
