"""One candidate, one call: a batch of one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kengine import tasks
from kengine.engine.engine import Engine
from kengine.errors import UsageError
from kengine.model import Candidate, Task
from kengine.tasks.item import Item

if TYPE_CHECKING:
    from kengine.config import Plan
    from kengine.model import Verdict


def verify(
    candidate: Candidate | Path | str,
    task: Task | Path | str | None = None,
    *,
    backend: str | None = None,
    target: str | None = None,
    compile_for: Sequence[str] | None = None,
    plan: Plan | None = None,
) -> Verdict:
    """Judge one candidate and end every process again; an `Engine` is much faster for more than one.

    candidate: a path, the text of a file (it has more than one line), or a record with the record of its task.
    task: the same for the task; None when the candidate's file holds reference and inputs too.
    Raises UsageError (TaskError for a broken task), PluginError, TargetUnavailable or InfraError.
    """
    if isinstance(candidate, Candidate) and isinstance(task, Task):
        item = Item(candidate, task)
    else:
        item = _read(candidate, task)
    with Engine(backend, target, compile_for=compile_for, plan=plan, workers=1) as engine:
        return engine.verify(item)


def _read(candidate: Candidate | Path | str, task: Task | Path | str | None) -> Item:
    if isinstance(candidate, Candidate):
        raise UsageError("a candidate that is a record needs its task as a record too")
    if not isinstance(task, Task) and task is not None and _is_text(task):
        task = tasks.parse_task(str(task))
    if not _is_text(candidate):
        return tasks.load(candidate, task)
    if task is None:
        return tasks.parse(str(candidate))
    return tasks.pair(str(candidate), task if isinstance(task, Task) else tasks.load_task(task))


def _is_text(value: Path | str) -> bool:
    return isinstance(value, str) and "\n" in value
