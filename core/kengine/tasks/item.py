"""One piece of work: a candidate and the task that it is judged by."""

from __future__ import annotations

from dataclasses import dataclass

from kengine.model import Candidate, Task


@dataclass(frozen=True)
class Item:
    """What `Engine.verify` takes. `key` is the caller's own name for it and comes back unchanged.

    within_s: seconds after which nobody waits for the verdict any longer; the work is then given up with
    DeadlineExceeded, which says nothing against the candidate. None: as long as the plan's own limits allow.
    """

    candidate: Candidate
    task: Task
    key: str = ""
    within_s: float | None = None
