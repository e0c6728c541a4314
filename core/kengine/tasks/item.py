"""One piece of work: a candidate and the task that it is judged by."""

from __future__ import annotations

from dataclasses import dataclass

from kengine.model import Candidate, Task


@dataclass(frozen=True)
class Item:
    """What `Engine.verify` takes. `key` is the caller's own name for it and comes back unchanged."""

    candidate: Candidate
    task: Task
    key: str = ""
