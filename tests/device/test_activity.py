"""Which activity belongs to which call, and how long the device was busy; needs no device."""

from __future__ import annotations

import pytest
from kengine.device.activity import attribute, busy_ns
from kengine.device.cupti import Activity, CuptiError


def kernel(begin: int, end: int, name: str = "k", stream: int = 7) -> Activity:
    return Activity("kernel", name, begin, end, stream)


def test_overlapping_activities_count_once() -> None:
    assert busy_ns([kernel(0, 10), kernel(5, 20, stream=8), kernel(30, 40), kernel(32, 35)]) == 30
    assert busy_ns([]) == 0


def mark(begin: int) -> Activity:
    return Activity("fill", "fill", begin, begin + 2, 7, 20_001)


MARKS = [mark(100), mark(150), mark(200), mark(250)]


def test_each_call_gets_what_began_between_its_marks() -> None:
    flush = Activity("fill", "fill", 160, 190, 7, 1 << 20)
    beside = kernel(112, 118, "other stream", stream=9)
    copy = Activity("copy", "copy", 120, 125, 7)
    records = [kernel(210, 230, "b"), flush, beside, kernel(110, 120, "a"), copy, *MARKS]
    calls = attribute(records, MARKS, [60, 60])
    assert [(call.busy_ns, call.kernels, call.names) for call in calls] == [
        (15, 2, ("a", "other stream")), (20, 1, ("b",))
    ]  # fmt: skip


def test_a_call_without_activity_is_an_error_not_a_time() -> None:
    with pytest.raises(CuptiError, match="1 of 2 calls left no device activity"):
        attribute([kernel(110, 120), *MARKS], MARKS, [60, 60])
    with pytest.raises(CuptiError, match=r"2 of 2 calls .* \(4 records in all\)"):
        attribute(MARKS, MARKS, [60, 60])


def test_no_call_is_busier_than_it_lasted() -> None:
    marks = [mark(100), mark(90_000)]
    records = [*marks, kernel(200, 50_200)]
    assert attribute(records, marks, [40_000])[0].busy_ns == 50_000
    with pytest.raises(CuptiError, match="a call that lasted 39000 ns is recorded as 50000 ns of work"):
        attribute(records, marks, [39_000])
