"""Items that wait for an actor: each is given out until its outcome is here, and then no more."""

from __future__ import annotations

import threading
from collections import deque
from concurrent.futures import Future
from typing import TYPE_CHECKING, Union

from kengine.errors import WorkerLost

if TYPE_CHECKING:
    from kengine.model import Verdict
    from kengine.tasks import Item

    Outcome = Union[Verdict, BaseException]

PORTION = 4
"""Most items that go to an actor with one call."""

_PORTION_S = 0.4
_LOSSES = 8


class Ticket:
    """One item that waits; `future` gets its verdict, or what is to be raised."""

    def __init__(self, item: Item) -> None:
        self.item = item
        self.future: Future[Verdict] = Future()
        self.losses = 0


class Queue:
    """Tickets that wait, first come, first served; thread-safe."""

    def __init__(self) -> None:
        self.change = threading.Condition()
        self._waiting: deque[Ticket] = deque()
        self._hungry = 0
        self._mean_s = 1.0

    def put(self, item: Item) -> Ticket:
        """Have an item judged by whoever takes it."""
        ticket = Ticket(item)
        with self.change:
            self._waiting.append(ticket)
            self.change.notify()
        return ticket

    def take(self, wanted: threading.Event) -> list[Ticket]:
        """Wait for tickets: as many as take a moment and leave as much for everybody else who waits here.

        Where a verdict takes a few milliseconds, a call for each would cost as much as some of them. Empty when the
        event is cleared, because there is no actor any more to judge them.
        """
        with self.change:
            self._hungry += 1
            try:
                while wanted.is_set() and not self._waiting:
                    self.change.wait()
                if not wanted.is_set():
                    self.change.notify()  # it may have been woken in place of one that can
                    return []
                share = -(-len(self._waiting) // self._hungry)
                count = max(1, min(share, int(_PORTION_S / self._mean_s), PORTION))
                return [self._waiting.popleft() for _ in range(count)]
            finally:
                self._hungry -= 1

    def give_back(self, tickets: list[Ticket], problem: str) -> None:
        """Let tickets whose actor was lost wait again, before all others; too many losses end in WorkerLost."""
        hopeless = []
        with self.change:
            for ticket in reversed(tickets):
                ticket.losses += 1
                if ticket.losses < _LOSSES:
                    self._waiting.appendleft(ticket)
                else:
                    hopeless.append(ticket)
            self.change.notify(len(tickets))
        text = f"{_LOSSES} actors were lost while they judged this candidate; the last: {problem}"
        self.answer(hopeless, [WorkerLost(text)] * len(hopeless))

    def withdraw(self, ticket: Ticket) -> bool:
        """Take a ticket out again; False when it is being judged or answered."""
        with self.change:
            if ticket in self._waiting:
                self._waiting.remove(ticket)
                return True
            return False

    def answer(self, tickets: list[Ticket], outcomes: list[Outcome]) -> None:
        """Give tickets their outcomes."""
        for ticket, outcome in zip(tickets, outcomes):
            if isinstance(outcome, BaseException):
                ticket.future.set_exception(outcome)
            else:
                ticket.future.set_result(outcome)

    def note(self, seconds: float) -> None:
        """Learn how long a verdict takes."""
        with self.change:
            self._mean_s += 0.2 * (seconds - self._mean_s)

    def fail_all(self, error: WorkerLost) -> None:
        """Answer everything that waits with one error."""
        with self.change:
            tickets = list(self._waiting)
            self._waiting.clear()
            self.change.notify_all()
        self.answer(tickets, [error] * len(tickets))
