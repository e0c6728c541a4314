"""Until when the engine waits for the request under way, so that a backend can say how far a candidate has come, and
where the main thread stands just before that moment.

The engine kills the runner at that moment whatever happens here; nothing depends on this being honest.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import time
from contextlib import suppress

MARGIN_S = 0.2
"""How long before the end the stack is written, at most; a quarter of a short time."""

_until: float | None = None
_stack = -1
_start = 0


def begin(timeout_s: object) -> None:
    """Note how many seconds the engine waits from now; anything but a positive number means that nobody said."""
    global _until
    seconds = float(timeout_s) if isinstance(timeout_s, (int, float)) and timeout_s > 0 else None
    _until = None if seconds is None else time.monotonic() + seconds
    if _stack >= 0 and seconds is not None:
        with suppress(Exception):
            _set_alarm(max(seconds - MARGIN_S, 0.75 * seconds))


def end() -> None:
    """The request is answered: the main thread has nothing more to tell."""
    if _stack >= 0:
        signal.setitimer(signal.ITIMER_REAL, 0.0)


def remaining() -> float | None:
    """Seconds until the engine gives up, 0.0 when they are over; None when nobody said."""
    return None if _until is None else max(0.0, _until - time.monotonic())


def keep_stack(fd: int, main: str) -> None:
    """From now on write the main thread's stack into this file when a request is about to end, or the processor time is
    used up; before it stands the path of the candidate's main file.

    A signal does it, whatever the main thread is busy with, and no further thread is needed. A candidate that wants the
    signal for itself, or has made off with the file, is one of which nothing is told.
    """
    global _stack, _start
    with suppress(OSError, ValueError):
        _stack = os.dup(fd)
        _start = os.pwrite(_stack, f"{main}\n".encode(errors="replace"), 0)
        os.lseek(_stack, _start, os.SEEK_SET)
        faulthandler.register(signal.SIGXCPU, file=_stack, all_threads=False, chain=True)


def _set_alarm(seconds: float) -> None:
    if (written := os.lseek(_stack, 0, os.SEEK_CUR)) > _start:
        os.pwrite(_stack, bytes(written - _start), _start)
        os.lseek(_stack, _start, os.SEEK_SET)
    # Anew each time: whoever has used the signal in between may have put back what it found, which was not this.
    faulthandler.unregister(signal.SIGALRM)
    faulthandler.register(signal.SIGALRM, file=_stack, all_threads=False)
    signal.setitimer(signal.ITIMER_REAL, seconds)
