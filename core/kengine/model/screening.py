"""What a screening says of a task: findings, each with a suggested fix, and the report that holds them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True)
class TaskFinding:
    """One thing that keeps a task from telling right from wrong.

    severity: "error" refuses the task, under "warning" some wrong kernel passes or nothing can be told of a part of
    the reference, "note" is for information. check: a name that the task may write in its `allow`. line: of the
    task's source, 0 where none is to blame.
    """

    check: str
    severity: Literal["error", "warning", "note"]
    message: str
    fix: str
    case: str = ""
    line: int = 0


@dataclass(frozen=True)
class TaskReport:
    """All findings about one task, the cases that were judged, those left out with the reason, and nanoseconds."""

    task: str
    path: str
    device: str
    findings: tuple[TaskFinding, ...] = ()
    cases: tuple[str, ...] = ()
    skipped: Mapping[str, str] = field(default_factory=dict)
    elapsed_ns: int = 0

    @property
    def refused(self) -> bool:
        """Whether the engine refuses to judge by this task."""
        return any(f.severity == "error" for f in self.findings)

    @property
    def ok(self) -> bool:
        """Whether nothing worse than a note was found."""
        return all(f.severity == "note" for f in self.findings)
