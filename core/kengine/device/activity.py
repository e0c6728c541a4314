"""Device time by what the device itself recorded: how long its kernels, copies and fills ran in each call."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from kengine.device.cupti import Activity, Cupti, CuptiError
from kengine.device.l2 import Flush
from kengine.device.marks import Marks

SLACK_NS, SLACK = 10_000, 0.01
"""By how much, and by which part of it, a call may be busier than it lasted by the host's clock: the rate of the
device's clock is estimated by the library too."""


@dataclass(frozen=True)
class CallActivity:
    """One call: nanoseconds in which the device was busy with it, kernels that ran, and their names in order."""

    busy_ns: int
    kernels: int
    names: tuple[str, ...]


@lru_cache(maxsize=1)
def recorder() -> Cupti:
    """The process's recorder. Raises CuptiError where the library is missing or refuses."""
    return Cupti()


def time_by_activity(calls: Sequence[Callable[[], Any]], count: int) -> list[CallActivity]:
    """What the device did in each of `count` calls, rotating over `calls`; the cache is flushed before each.

    The device is waited for before and after each call, and a mark stands in its record at both places: whatever ran
    between them, on whichever stream, is the call's. Raises CuptiError when recording is not possible or not complete,
    or when a call left no activity at all: that is a broken clock (or a call that did nothing on the device), never a
    time of zero. Each call has been made once at the most by then; nothing is repeated here.
    """
    import torch

    cupti = recorder()
    flush, marks = Flush(), Marks()
    lasted = []
    with cupti.record() as records:
        for i in range(count):
            flush()
            marks()
            torch.cuda.synchronize()
            begin = time.perf_counter_ns()
            calls[i % len(calls)]()
            torch.cuda.synchronize()
            lasted.append(time.perf_counter_ns() - begin)
            marks()
        torch.cuda.synchronize()
    return attribute(records, marks.find(records), lasted)


def attribute(records: Sequence[Activity], marks: Sequence[Activity], lasted: Sequence[int]) -> list[CallActivity]:
    """Give to each call the activities that began between its two marks. lasted: nanoseconds by the host's clock.

    Raises CuptiError if a call got nothing, with how many did, and if one was busier than it can have been.
    """
    ordered = sorted(records, key=lambda record: record.begin_ns)
    begins = [record.begin_ns for record in ordered]
    result = []
    for opened, closed, lasted_ns in zip(marks[::2], marks[1::2], lasted):
        mine = ordered[bisect_left(begins, opened.end_ns) : bisect_left(begins, closed.begin_ns)]
        kernels = [record.name for record in mine if record.kind == "kernel"]
        call = CallActivity(busy_ns(mine), len(kernels), tuple(kernels))
        if call.busy_ns > lasted_ns * (1 + SLACK) + SLACK_NS:
            raise CuptiError(f"a call that lasted {lasted_ns} ns is recorded as {call.busy_ns} ns of work")
        result.append(call)
    empty = sum(call.busy_ns == 0 for call in result)
    if empty:
        raise CuptiError(f"{empty} of {len(result)} calls left no device activity ({len(ordered)} records in all)")
    return result


def busy_ns(records: Sequence[Activity]) -> int:
    """Nanoseconds that are covered by at least one activity."""
    total = 0
    reached = 0
    for record in sorted(records, key=lambda record: record.begin_ns):
        start = max(record.begin_ns, reached)
        if record.end_ns > start:
            total += record.end_ns - start
            reached = record.end_ns
    return total
