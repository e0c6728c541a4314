"""Which cases a task is judged on: those that it lists, or several draws and value classes when it lists none."""

from __future__ import annotations

from dataclasses import replace

from kengine.errors import TaskError
from kengine.model import Case, Task

DEFAULTS = (
    Case("draw0"),
    Case("outlier", values="outlier"),
    Case("draw1", draw=1),
    Case("large", values="large"),
    Case("tiny", values="tiny"),
    Case("binary", values="binary"),
    Case("zeros", values="zeros"),
    Case("draw2", draw=2),
)
"""Cases of a task that lists none, the most telling first, so that a limit keeps these."""


def expand(task: Task) -> tuple[Case, ...]:
    """The cases of a task in order, each with a name of its own. Raises TaskError for a name used for two things."""
    if not task.spec.cases:
        return DEFAULTS
    seen: dict[str, Case] = {}
    result = []
    for n, case in enumerate(task.spec.cases):
        named = case if case.name else replace(case, name=f"case{n}")
        if named.name in seen:
            if named == seen[named.name]:
                raise TaskError(f"task {task.name!r}: the case {named.name!r} is listed twice; give one another `draw`")
            raise TaskError(f"task {task.name!r}: two cases have the name {named.name!r}; name them apart")
        seen[named.name] = named
        result.append(named)
    return tuple(result)


def is_natural(case: Case) -> bool:
    """Whether a case's values are of a kind that must be valid for the task: its own draw, or one asked for by name."""
    return case.values in ("drawn", "normal", "uniform")
