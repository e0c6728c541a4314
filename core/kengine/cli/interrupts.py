"""Ctrl-C and SIGTERM: each ends the command wherever it is, and neither can get lost.

A signal becomes an exception of the main thread. Python drops an exception that is raised inside a finalizer or a
callback, as the ones that run after each import, and goes on as if nothing had been; such a one is raised once more.
"""

from __future__ import annotations

import _thread
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import FrameType

INTERRUPT_EXIT, TERMINATED_EXIT = 130, 143
"""Exit codes of Ctrl-C and SIGTERM: 128 and the signal's number, as a shell reports them."""
_PAUSE_S = 0.005


class Interrupted(KeyboardInterrupt):
    """SIGINT arrived.

    A class of its own: when a plain KeyboardInterrupt has gone through `exec` of a text, as the making of dataclasses
    does, Python ends the process by the signal and forgets the exit code.
    """


class Terminated(BaseException):
    """SIGTERM arrived: unwind as for Ctrl-C, so that every child is ended."""


_WORDS = {
    signal.SIGINT: (Interrupted, INTERRUPT_EXIT, "interrupted"),
    signal.SIGTERM: (Terminated, TERMINATED_EXIT, "terminated"),
}
_arrived = 0
_over = False


def install() -> None:
    """Turn both signals into exceptions from now on; SIGINT only where it has not been ignored by the caller."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _arrive)
    signal.signal(signal.SIGTERM, _arrive)
    sys.unraisablehook = _watch(sys.unraisablehook, _thread.get_ident())


def conclude(work: Callable[[], int]) -> int:
    """Do the whole work of a command; returns its exit code, or that of the signal that arrived meanwhile."""
    code = 0
    try:
        try:
            code = work()
        finally:
            _stop()
    except (KeyboardInterrupt, Terminated):
        _stop()
    if _arrived and code != _WORDS[signal.Signals(_arrived)][1]:
        code = say(_WORDS[signal.Signals(_arrived)][0])
    return code


def settle() -> None:
    """The signal that arrived is how the command was meant to end: it is no interruption."""
    global _arrived
    _arrived = 0


def say(kind: type[BaseException]) -> int:
    """Tell a person which signal ended the command; returns the exit code."""
    code, word = next((code, word) for known, code, word in _WORDS.values() if issubclass(known, kind))
    with suppress(OSError, ValueError):  # nobody reads it any more
        sys.stderr.write(f"kengine: {word}\n")
        sys.stderr.flush()
    return code


def _arrive(number: int, frame: FrameType | None) -> None:
    global _arrived
    if not _over:
        _arrived = number
        raise _WORDS[signal.Signals(number)][0]


def _stop() -> None:
    """The work is done and told: whoever still waits for the end of the process need not."""
    global _over
    _over = True
    for number in _WORDS:
        if signal.getsignal(number) is _arrive:
            signal.signal(number, signal.SIG_DFL)


def _watch(other: Callable[[Any], Any], main: int) -> Callable[[Any], Any]:
    def hook(dropped: Any) -> None:
        numbers = [number for number, (kind, _, _) in _WORDS.items() if issubclass(dropped.exc_type, kind)]
        if not numbers:
            other(dropped)
        elif not _over:
            with suppress(RuntimeError):  # no thread can be started any more: the process ends in any case
                _thread.start_new_thread(_send_again, (numbers[0], main))

    return hook


def _send_again(number: int, main: int) -> None:
    time.sleep(_PAUSE_S)  # until the main thread has left what dropped it
    if not _over:
        signal.pthread_kill(main, number)
