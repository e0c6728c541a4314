"""Device time between two events on the current stream, one pair for each call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kengine.device.l2 import Flush


def time_by_events(calls: Sequence[Callable[[], Any]], count: int) -> list[int]:
    """Nanoseconds of each of `count` calls, rotating over `calls`; the cache is flushed before each.

    The flush keeps the device busy while the host enqueues the call, so that launch latency does not count. Work on
    other streams is not seen by events; it is waited for before the next call.
    """
    import torch

    flush = Flush()
    pairs = []
    for i in range(count):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        flush()
        start.record()
        calls[i % len(calls)]()
        end.record()
        torch.cuda.synchronize()
        pairs.append((start, end))
    return [max(1, round(start.elapsed_time(end) * 1e6)) for start, end in pairs]
