"""Whose turn it is on a device: a compile needs none until it launches what it has compiled.

While a candidate is timed nobody else may use its device. A launch, and whatever else is made on a device anyway, is
asked for by the engine when it may happen. A compile takes many times as long as the launch at its end, so that the
engine lets it begin at any time, and the one who compiles asks before his first launch.

A candidate that launches without asking disturbs another one's time; of its own verdict nothing depends on this.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

_lock = threading.Lock()
_ask: Callable[[], None] | None = None


def offer(ask: Callable[[], None] | None) -> None:
    """Have `take` call this once; None when nobody need ask (any more)."""
    global _ask
    _ask = ask


def take() -> None:
    """Before a launch in a compile: return when the device is free for it. Does nothing at all other times."""
    global _ask
    if _ask is None:
        return
    with _lock:  # two threads of one candidate: the second waits for what the first asks for
        ask = _ask
        if ask is not None:
            ask()
            _ask = None
