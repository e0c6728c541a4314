"""Until when the engine waits for the request under way, so that a backend can say how far a candidate has come.

The engine kills the runner at that moment whatever happens here; nothing depends on this being honest.
"""

from __future__ import annotations

import time

_until: float | None = None


def begin(timeout_s: object) -> None:
    """Note how many seconds the engine waits from now; anything but a positive number means that nobody said."""
    global _until
    known = isinstance(timeout_s, (int, float)) and timeout_s > 0
    _until = time.monotonic() + float(timeout_s) if known else None  # type: ignore[arg-type]


def remaining() -> float | None:
    """Seconds until the engine gives up, 0.0 when they are over; None when nobody said."""
    return None if _until is None else max(0.0, _until - time.monotonic())
