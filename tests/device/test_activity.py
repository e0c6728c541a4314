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


def test_each_call_gets_what_began_in_it() -> None:
    flush = Activity("fill", "fill", 90, 99, 7)
    records = [kernel(210, 230, "b"), flush, kernel(110, 120, "a"), Activity("copy", "copy", 120, 125, 7)]
    calls = attribute(records, [(100, 150), (200, 250)])
    assert [(call.busy_ns, call.kernels, call.names) for call in calls] == [(15, 1, ("a",)), (20, 1, ("b",))]


def test_a_call_without_activity_is_an_error_not_a_time() -> None:
    with pytest.raises(CuptiError, match="1 of 2 calls left no device activity"):
        attribute([kernel(110, 120)], [(100, 150), (200, 250)])
    with pytest.raises(CuptiError, match=r"2 of 2 calls .* \(0 records in all\)"):
        attribute([], [(100, 150), (200, 250)])
