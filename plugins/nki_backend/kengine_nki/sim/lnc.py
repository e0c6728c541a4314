"""Programs that run at the same time on the cores of a logical NeuronCore, one step at a time and in a fixed order."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from typing import Any

from .errors import RunFault


class _Aborted(BaseException):
    """Ends a program because another one failed."""


class Rendezvous:
    """Lets one thread run at a time; `meet` hands the turn on until both programs reached the same point.

    Only switching there makes runs repeat exactly, and a program that waits for one that has ended is a deadlock.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self.condition = threading.Condition()
        self.turn = 0
        self.waiting: dict[int, tuple[Any, Any]] = {}
        self.results: dict[int, Any] = {}
        self.done: set[int] = set()
        self.failure: BaseException | None = None

    def run(self, bodies: list[Callable[[], None]], first: int = 0) -> None:
        """Run the bodies to their end, starting with body `first`; raises what one of them raised."""
        self.turn = first
        threads = [
            threading.Thread(target=contextvars.copy_context().run, args=(self._body, rank, body), daemon=True)
            for rank, body in enumerate(bodies)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if self.failure is not None:
            raise self.failure

    def _body(self, rank: int, body: Callable[[], None]) -> None:
        try:
            with self.condition:
                self._wait_for_turn(rank)
            body()
        except _Aborted:
            pass
        except BaseException as error:
            with self.condition:
                self.failure = self.failure or error
        finally:
            with self.condition:
                self.done.add(rank)
                self._pass_on(rank)

    def _wait_for_turn(self, rank: int) -> None:
        while self.turn != rank and self.failure is None:
            self.condition.wait()
        if self.failure is not None:
            raise _Aborted

    def _pass_on(self, rank: int) -> None:
        for step in range(1, self.count):
            other = (rank + step) % self.count
            if other not in self.done:
                self.turn = other
                break
        self.condition.notify_all()

    def meet(self, rank: int, key: Any, payload: Any = None) -> Any:
        """Wait for the other program to reach `key`; returns its payload. RunFault for a deadlock."""
        other = 1 - rank
        with self.condition:
            met = self.waiting.pop(other, None)
            if met is not None:
                if met[0] != key:
                    raise RunFault(f"deadlock: program {rank} waits at {key} while program {other} waits at {met[0]}")
                self.results[other] = payload
                return met[1]
            if other in self.done:
                raise RunFault(f"deadlock: program {rank} waits at {key}, but program {other} has ended")
            self.waiting[rank] = (key, payload)
            self._pass_on(rank)
            while rank not in self.results and self.failure is None:
                if other in self.done:
                    raise RunFault(f"deadlock: program {rank} waits at {key}, but program {other} has ended")
                self.condition.wait()
            if self.failure is not None:
                raise _Aborted
            self._wait_for_turn(rank)
            return self.results.pop(rank)
