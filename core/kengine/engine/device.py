"""Who may use a device: many side by side, or one timing alone."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

PATIENCE_S = 2.0
"""How long a timing waits for others to gather before the device is closed to everything else."""


class Device:
    """A lock that launches and a judge's work share and timing holds alone.

    Before a timing everything that is under way must end, and nothing new can begin. Several timings share that price:
    they gather until there are `gather` of them, or one has waited for `patience_s`, or the device happens to be free;
    then they run one after the other, until none is left. Whoever holds the device must not ask for it again.
    """

    def __init__(self, gather: int = 1, patience_s: float = PATIENCE_S) -> None:
        self._gather = gather
        self._patience_s = patience_s
        self._condition = threading.Condition()
        self._sharing = 0
        self._waiting: deque[float] = deque()
        self._closed = False
        self._alone = False

    @contextmanager
    def shared(self) -> Iterator[None]:
        """Use the device beside others."""
        with self._condition:
            self._condition.wait_for(self._is_open)
            self._sharing += 1
        try:
            yield
        finally:
            with self._condition:
                self._sharing -= 1
                self._condition.notify_all()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Use the device with nobody beside."""
        since = time.monotonic()
        with self._condition:
            self._waiting.append(since)
            self._condition.wait_for(lambda: not self._alone and not self._sharing)
            self._waiting.remove(since)
            self._alone = self._closed = True
        try:
            yield
        finally:
            with self._condition:
                self._alone = False
                self._closed = bool(self._waiting)
                self._condition.notify_all()

    def _is_open(self) -> bool:
        if self._waiting and not self._closed:
            late = time.monotonic() - self._waiting[0] >= self._patience_s
            self._closed = late or len(self._waiting) >= self._gather
        return not self._alone and not self._closed
