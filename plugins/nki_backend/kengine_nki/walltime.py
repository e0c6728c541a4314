"""A limit of wall time inside the runner, which says how far a kernel came where the engine's own could not."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

from kengine.runner import deadline

from kengine_nki.sim import NkiError
from kengine_nki.sim.program import state

if TYPE_CHECKING:
    from kengine_nki.sim import Session

SHARE = 0.9
"""Of the time that the engine waits; the rest is for the answer to get back."""


class TimeUp(NkiError):
    """The time is over; says after how many instructions and allocations."""


@contextmanager
def limited(run: Session, most_s: float | None = None) -> Iterator[None]:
    """Raise TimeUp in the block a little before the engine gives up, or after `most_s` seconds.

    Only in a process's main thread, where signals arrive; elsewhere the engine's own limit is the only one.
    """
    left = deadline.remaining()
    seconds = min([s for s in (None if left is None else left * SHARE, most_s) if s is not None], default=None)
    if seconds is None or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        program = state.program
        count = run.work + (program.count if program is not None else 0)
        where = f"in kernel `{program.kernel}`" if program is not None else "outside of any kernel"
        raise TimeUp(
            f"not done within {seconds:.3g} s: it came to {count} instructions and allocations and was {where}"
        )

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.01))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
