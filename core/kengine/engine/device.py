"""Who may use a device: many launches side by side, or one timing alone."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Device:
    """A lock that launches share and timing holds alone. A waiting timing keeps new launches out, so that the
    timings of a batch gather and run one after the other."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._sharing = 0
        self._waiting = 0
        self._alone = False

    @contextmanager
    def shared(self) -> Iterator[None]:
        """Use the device beside others."""
        with self._condition:
            self._condition.wait_for(lambda: not self._alone and not self._waiting)
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
        with self._condition:
            self._waiting += 1
            self._condition.wait_for(lambda: not self._alone and not self._sharing)
            self._waiting -= 1
            self._alone = True
        try:
            yield
        finally:
            with self._condition:
                self._alone = False
                self._condition.notify_all()
