"""The task of a sample, from whatever column of a trainer's data holds it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from kengine import codec
from kengine.errors import UsageError
from kengine.model import Task
from kengine.server.protocol import read_task

_KEYS = ("task", "kengine_task")


def find_column(columns: Mapping[str, Any], name: str, trainer: str, cause: str = "") -> Any:
    """The column of that name. Raises UsageError that lists what the trainer did pass, and the usual cause."""
    value = columns.get(name)
    if value is None:
        passed = ", ".join(sorted(map(str, columns))) or "nothing"
        why = f"; {cause}" if cause else ""
        raise UsageError(
            f"{trainer} passed no column {name!r}; it passed: {passed}{why}. Put the task's text or its file's path "
            f"into a column {name!r} of the data set, or say which column holds it (task_column=...)"
        )
    return value


def to_task(value: Any, where: str = "task") -> Task:
    """A task from what a column holds: a Task, its record, the text of its file, or the path of one.

    A mapping, or text that is a JSON object, may hold it under "task". Raises UsageError with `where` for anything
    else, TaskError for a task that cannot be judged.
    """
    if isinstance(value, Task):
        return value
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            value = json.loads(value)
        except ValueError as error:
            raise UsageError(f"{where}: looks like JSON and is not: {error}") from None
    if isinstance(value, Mapping):
        return _from_mapping(value, where)
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if not isinstance(value, str) or not value.strip():
        raise UsageError(f"{where}: want the text of a task or the path of its file, got {_show(value)}")
    if "\n" in value:
        return read_task(value)
    return read_task(_read_file(value, where), Path(value).name)


def spread(value: Any, count: int, where: str) -> list[Any]:
    """One value for each sample: a list as it is, anything else repeated. Raises UsageError for a wrong length."""
    if isinstance(value, (str, Mapping, Task, os.PathLike)) or not isinstance(value, Iterable):
        return [value] * count
    values = list(value)
    if len(values) != count:
        raise UsageError(f"{where}: {len(values)} tasks for {count} completions")
    return values


def _from_mapping(value: Mapping[str, Any], where: str) -> Task:
    if "schema" in value or {"form", "source"} <= set(value):
        return codec.from_json(dict(value), Task)
    for key in _KEYS:
        if value.get(key) is not None:
            return to_task(value[key], f"{where}.{key}")
    raise UsageError(f"{where}: want a mapping with 'task' or a record of a task, got keys {sorted(map(str, value))}")


def _read_file(path: str, where: str) -> str:
    from kengine.tasks.source import read_text

    file = Path(path).expanduser()
    if not file.is_file():
        raise UsageError(f"{where}: {path!r} is one line, so it should be a task's path, and there is no such file")
    return read_text(file)


def _show(value: Any) -> str:
    return "nothing" if value is None else f"{type(value).__name__} {str(value)[:60]!r}"
