"""Timing a batch of calls on the device by the best clock that works, saying which it was."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from kengine.device.activity import CallActivity, time_by_activity
from kengine.device.cupti import CuptiError
from kengine.device.event import time_by_events
from kengine.device.l2 import Flush
from kengine.model import Timing, TimingPlan


def time_calls(calls: Sequence[Callable[[], Any]], plan: TimingPlan) -> Timing:
    """Warm up and time `plan.calls` calls, rotating over `calls`, each with a cold cache.

    Samples are nanoseconds: device busy time by activity, else time between events, else (method "wall") the host's
    clock around call and synchronisation. Timing.method is the clock that was really used; launches is the number of
    kernels that ran in the timed calls, 0 where the clock does not see them.
    """
    import torch

    for i in range(plan.warmup):
        calls[i % len(calls)]()
    torch.cuda.synchronize()
    if plan.method == "wall":
        return Timing(tuple(_time_by_wall(calls, plan.calls)), "wall")
    if plan.method == "activity":
        seen = _try_activity(calls, plan.calls)
        if seen is not None:
            return Timing(tuple(call.busy_ns for call in seen), "activity", sum(call.kernels for call in seen))
    return Timing(tuple(time_by_events(calls, plan.calls)), "event")


def _try_activity(calls: Sequence[Callable[[], Any]], count: int) -> list[CallActivity] | None:
    try:
        return time_by_activity(calls, count)
    except CuptiError:
        return None


def _time_by_wall(calls: Sequence[Callable[[], Any]], count: int) -> list[int]:
    import torch

    flush = Flush()
    samples = []
    for i in range(count):
        flush()
        torch.cuda.synchronize()
        begin = time.perf_counter_ns()
        calls[i % len(calls)]()
        torch.cuda.synchronize()
        samples.append(time.perf_counter_ns() - begin)
    return samples
