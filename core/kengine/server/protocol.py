"""What goes over the wire between a client and a server: five records, written and read by `kengine.codec`."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from kengine import codec
from kengine.config import Plan
from kengine.errors import (
    DeadlineExceeded,
    DeviceLost,
    InfraError,
    InternalError,
    KengineError,
    PluginError,
    TargetUnavailable,
    TaskError,
    UsageError,
    WorkerLost,
)
from kengine.model import Candidate, Target, Task, Verdict
from kengine.tasks.item import Item


class Draining(InfraError):
    """The server is being shut down and takes nothing new; another one, or the same after a restart, will."""


_KINDS: tuple[type[KengineError], ...] = (
    DeadlineExceeded, Draining, DeviceLost, InfraError, InternalError, TargetUnavailable, TaskError, UsageError,
    WorkerLost,
)  # fmt: skip
_ERRORS: Mapping[str, type[KengineError]] = {kind.__name__: kind for kind in _KINDS}


@dataclass(frozen=True)
class Request:
    """One candidate to judge, as records or as the texts of two files.

    id: the caller's own, at most 128 characters; the same id again is the same request and is not judged twice.
    name: what the candidate's file is called, whose suffix tells the language; "" lets the text tell it. target: ""
    takes the server's only one. deadline_s: seconds from its arrival until the caller stops waiting; None takes the
    server's.
    """

    id: str
    candidate: Candidate | None = None
    task: Task | None = None
    candidate_text: str = ""
    task_text: str = ""
    name: str = ""
    target: str = ""
    deadline_s: float | None = None

    def item(self) -> Item:
        """The work that is asked for. Raises UsageError, or TaskError for a task that cannot be read."""
        from kengine import tasks

        if self.candidate is not None and not self.candidate.files:
            raise UsageError(f"request {self.id}: candidate.files is empty, want at least one file")
        if self.task is not None:
            if self.candidate is not None:
                return Item(self.candidate, self.task, self.id)
            return tasks.pair(self.candidate_text, self.task, self.name)
        if self.candidate is not None:
            raise UsageError(f"request {self.id}: a candidate without its task; send both as records or both as text")
        if not self.task_text.strip():
            raise UsageError(f"request {self.id}: no task; send task, or the text of its file as task_text")
        return tasks.pair(self.candidate_text, read_task(self.task_text), self.name)


@dataclass(frozen=True)
class Batch:
    """Several requests at once; each is answered on a line of its own as soon as it is judged."""

    requests: tuple[Request, ...]


@dataclass(frozen=True)
class Answer:
    """What became of a request: a verdict, or the name of an error of kengine and its message."""

    id: str
    verdict: Verdict | None = None
    error: str = ""
    message: str = ""


@dataclass(frozen=True)
class JobState:
    """How far a request is. `queued_s` and `running_s`: seconds it has spent there."""

    id: str
    status: Literal["queued", "running", "done"]
    queued_s: float
    running_s: float
    answer: Answer | None = None


@dataclass(frozen=True)
class Served:
    """One target of a server: its plan and how many candidates it judges side by side."""

    target: Target
    emulated: bool
    workers: int
    plan: Plan = field(default_factory=Plan)


@dataclass(frozen=True)
class Health:
    """What a server is: version, schemas that it speaks, targets, limits, and how much it has to do."""

    status: Literal["ready", "draining"]
    kengine: str
    schemas: Mapping[str, str]
    targets: tuple[Served, ...]
    queued: int
    running: int
    queue: int
    max_batch: int
    max_request_bytes: int
    deadline_s: float


SCHEMAS: Mapping[str, str] = {
    kind.__name__: codec.schema_id(kind) for kind in (Request, Batch, Answer, Verdict, Task, Candidate)
}
"""Schema of each record that a client and a server exchange; both must have the same."""


@functools.lru_cache(maxsize=256)
def read_task(text: str, name: str = "task.py") -> Task:
    """Read the text of a task; the same text is parsed once, since a task is judged many times."""
    from kengine import tasks

    return tasks.parse_task(text, name)


def failure(id: str, error: BaseException) -> Answer:
    """The answer for a request that ended in an exception; what is no error of kengine is the machine's fault."""
    message = str(error) or type(error).__name__
    if isinstance(error, (KengineError, PluginError)):
        return Answer(id, error=type(error).__name__, message=message)
    return Answer(id, error=InternalError.__name__, message=f"{type(error).__name__}: {message}")


def to_exception(answer: Answer) -> KengineError:
    """The exception that an answer without a verdict stands for."""
    kind = _ERRORS.get(answer.error)
    if kind is None:
        # Faults of a plugin, and errors that only a newer server knows: no verdict, and not the candidate's fault.
        return InfraError(f"{answer.error}: {answer.message}")
    return kind(answer.message)
