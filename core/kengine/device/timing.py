"""Timing a batch of calls on the device by the clock that was asked for, and by no other."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from kengine.device.activity import time_by_activity
from kengine.device.cupti import CuptiError
from kengine.device.event import time_by_events
from kengine.device.l2 import Flush
from kengine.model import Timing, TimingPlan


def time_calls(calls: Sequence[Callable[[], Any]], plan: TimingPlan) -> Timing:
    """Warm up and time `plan.calls` calls, rotating over `calls`, each with a cold cache.

    Samples are nanoseconds: device busy time by activity, time between events, or (method "wall") the host's clock
    around call and synchronisation. launches is the number of kernels that ran in the timed calls, 0 where the clock
    does not see them.

    Where activity cannot be recorded the timing has no samples, and `failed` says why. Neither is another clock taken
    instead nor are the calls made once more: times by two clocks must not be set beside one another, and calls that
    write to their inputs are right on them once. Whoever asked has fresh inputs and knows both sides (`judge.timing`).
    """
    import torch

    for i in range(plan.warmup):
        calls[i % len(calls)]()
    torch.cuda.synchronize()
    if plan.method == "wall":
        return Timing(tuple(_time_by_wall(calls, plan.calls)), "wall")
    if plan.method == "event":
        return Timing(tuple(time_by_events(calls, plan.calls)), "event")
    try:
        seen = time_by_activity(calls, plan.calls)
    except CuptiError as error:
        return Timing((), "activity", failed=str(error))
    return Timing(tuple(call.busy_ns for call in seen), "activity", sum(call.kernels for call in seen))


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
