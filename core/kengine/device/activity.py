"""Device time by what the device itself recorded: how long its kernels, copies and fills ran in each call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from kengine.device.cupti import Activity, Cupti, CuptiError
from kengine.device.l2 import Flush


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

    Raises CuptiError when recording is not possible, or when a call left no activity at all: that is a broken clock
    (or a call that did nothing on the device), never a time of zero.
    """
    import torch

    cupti = recorder()
    flush = Flush()
    spans = []
    with cupti.record() as records:
        for i in range(count):
            flush()
            torch.cuda.synchronize()
            begin = cupti.now_ns()
            calls[i % len(calls)]()
            torch.cuda.synchronize()
            spans.append((begin, cupti.now_ns()))
    return attribute(records, spans)


def attribute(records: Sequence[Activity], spans: Sequence[tuple[int, int]]) -> list[CallActivity]:
    """Give each activity to the span that it began in. Spans must not overlap and be in order.

    Raises CuptiError if a span got nothing, with how many did.
    """
    ordered = sorted(records, key=lambda record: record.begin_ns)
    result = []
    place = 0
    for begin, end in spans:
        while place < len(ordered) and ordered[place].begin_ns < begin:
            place += 1
        mine = []
        while place < len(ordered) and ordered[place].begin_ns < end:
            mine.append(ordered[place])
            place += 1
        kernels = [record.name for record in mine if record.kind == "kernel"]
        result.append(CallActivity(busy_ns(mine), len(kernels), tuple(kernels)))
    empty = sum(call.busy_ns == 0 for call in result)
    if empty:
        raise CuptiError(f"{empty} of {len(spans)} calls left no device activity ({len(ordered)} records in all)")
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
