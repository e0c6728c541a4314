"""Which of several judges gets a candidate: each must open a task before it can judge by it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Generic, Protocol, TypeVar

QUEUE = 4
"""Requests before a judge that are worth having a task opened by another one as well."""
OFTEN = 16
"""Candidates of one task, for each judge that has opened it, that come before another one does: opening, and drawing
what timing needs, takes as long as judging a few."""
REMEMBERED = 64
"""Tasks whose judges are known; a judge keeps no more of them open."""


class Queued(Protocol):
    """What has requests waiting before it."""

    waiting: int


J = TypeVar("J", bound=Queued)


class Assignment(Generic[J]):
    """Gives every task to the judge with the fewest of them, and to further ones when those that have it are busy;
    thread-safe."""

    def __init__(self, judges: Sequence[J]) -> None:
        self.judges = tuple(judges)
        self._lock = threading.Lock()
        self._given: OrderedDict[str, tuple[list[J], list[int]]] = OrderedDict()

    def choose(self, digest: str) -> J:
        """The judge for one more candidate of the task with this digest."""
        with self._lock:
            if digest not in self._given:
                self._given[digest] = [min(self.judges, key=self._load)], [0]
                while len(self._given) > REMEMBERED:
                    self._given.popitem(last=False)
            self._given.move_to_end(digest)
            mine, asked = self._given[digest]
            asked[0] += 1
            best = min(mine, key=_waiting)
            others = [judge for judge in self.judges if judge not in mine]
            if others and best.waiting >= QUEUE and asked[0] > OFTEN * len(mine):
                further = min(others, key=_waiting)
                if further.waiting < best.waiting:
                    mine.append(further)
                    return further
            return best

    def _load(self, judge: J) -> int:
        return sum(judge in mine for mine, _ in self._given.values())


def _waiting(judge: Queued) -> int:
    return judge.waiting
