"""Recording of device activity against a double of the vendor's library, which writes records as the real one does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from device_doubles import COPY, FILL, KERNEL, OTHER, Flush, Library
from kengine.device import activity, cupti, timing
from kengine.device.cupti import Activity, Cupti, CuptiError
from kengine.model import TimingPlan


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Iterator[Library]:
    made = Library()
    monkeypatch.setattr(cupti, "_load", lambda: made)
    activity.recorder.cache_clear()
    yield made
    activity.recorder.cache_clear()


def test_records_come_in_order_with_their_kinds_names_and_streams(library: Library) -> None:
    recorder = Cupti()
    with recorder.record() as records:
        library.run(KERNEL, 50, "softmax", stream=13)
        library.run(COPY, 20)
        library.run(OTHER, 5)
        library.run(FILL, 30)
        library.run(KERNEL, 40, "tail")
        assert records == []
    assert records == [
        Activity("kernel", "softmax", 1100, 1150, 13),
        Activity("copy", "copy", 1250, 1270, 0),
        Activity("fill", "fill", 1475, 1505, 0),
        Activity("kernel", "tail", 1605, 1645, 7),
    ]
    assert library.enabled == set() and recorder._buffers == {} and set(library.sizes) == {1 << 20}
    with recorder.record() as again:
        library.run(KERNEL, 1, "later")
    assert [record.name for record in again] == ["later"] and len(records) == 4


def test_kernels_alone_enable_one_kind(library: Library) -> None:
    recorder = Cupti()
    with recorder.record(kernels_only=True) as records:
        library.run(COPY, 20)
        library.run(KERNEL, 40, "one")
    assert [record.name for record in records] == ["one"]
    assert library.changes == [("enable", KERNEL), ("disable", KERNEL)]


def test_a_refusal_is_an_error_and_leaves_nothing_enabled(library: Library) -> None:
    library.fails["enable"] = 38
    recorder = Cupti()
    with pytest.raises(CuptiError, match="cuptiActivityEnable failed with CUPTI error 38"), recorder.record():
        pytest.fail("not reached")
    assert library.enabled == set()
    library.fails["register"] = 3
    with pytest.raises(CuptiError, match="cuptiActivityRegisterCallbacks failed with CUPTI error 3"):
        Cupti()


def test_a_machine_without_the_library_says_where_it_looked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cupti, "_candidates", lambda: ["/nowhere/libcupti.so.13"])
    with pytest.raises(CuptiError, match="not found beside torch, in CUDA_HOME or on the loader's path"):
        cupti._load()


def test_the_copy_beside_torch_is_tried_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    for place in ("site/nvidia/cu13/lib", "cuda/extras/CUPTI/lib64"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "libcupti.so.13").touch()
    monkeypatch.setattr(cupti.sys, "path", [str(tmp_path / "site")])
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "cuda"))
    found = cupti._candidates()
    assert found[-3:] == ["libcupti.so.13", "libcupti.so.12", "libcupti.so"]
    assert found[:2] == [
        str(tmp_path / "site/nvidia/cu13/lib/libcupti.so.13"), str(tmp_path / "cuda/extras/CUPTI/lib64/libcupti.so.13")
    ]  # fmt: skip


@pytest.fixture
def device(library: Library, monkeypatch: pytest.MonkeyPatch) -> Library:
    """torch.cuda as far as clocks need it: everything has ended as soon as it was asked for."""
    torch = pytest.importorskip("torch")

    class Event:
        def __init__(self, enable_timing: bool) -> None:
            assert enable_timing

        def record(self) -> None:
            self.ns = library.tick(1)

        def elapsed_time(self, other: Any) -> float:
            return (other.ns - self.ns) / 1e6

    Flush.library = library
    monkeypatch.setattr(torch.cuda, "synchronize", lambda *_: None)
    monkeypatch.setattr(torch.cuda, "Event", Event)
    for module in ("activity", "event", "timing"):
        monkeypatch.setattr(f"kengine.device.{module}.Flush", Flush)
    monkeypatch.setattr(timing.time, "perf_counter_ns", lambda: library.tick(1))
    return library


def calls(library: Library) -> tuple[list[Any], list[str]]:
    made: list[str] = []

    def call(name: str, *lengths: int) -> Any:
        def run() -> None:
            made.append(name)
            for ns in lengths:
                library.run(KERNEL, ns, name)

        return run

    return [call("a", 10), call("b", 20, 5)], made


def test_each_call_is_timed_by_its_own_activity(device: Library) -> None:
    rotated, made = calls(device)
    got = timing.time_calls(rotated, TimingPlan(5, 3, "activity"))
    assert (got.samples_ns, got.method, got.launches) == ((10, 25, 10, 25, 10), "activity", 7)
    assert made == ["a", "b", "a", "a", "b", "a", "b", "a"]


def test_where_activity_cannot_be_recorded_events_are_the_clock(device: Library) -> None:
    rotated, _ = calls(device)
    device.fails["enable"] = 38
    got = timing.time_calls(rotated, TimingPlan(3, 0, "activity"))
    # Between two events: 100 before each kernel of the double, the kernel, and one tick of the second event.
    assert (got.samples_ns, got.method, got.launches) == ((111, 226, 111), "event", 0)


def test_a_call_that_leaves_no_activity_is_not_timed_by_it(device: Library) -> None:
    got = timing.time_calls([lambda: None], TimingPlan(2, 0, "activity"))
    assert (got.samples_ns, got.method) == ((1, 1), "event")


def test_wall_time_is_around_the_call_and_not_the_flush(device: Library) -> None:
    rotated, _ = calls(device)
    got = timing.time_calls(rotated, TimingPlan(2, 0, "wall"))
    assert (got.samples_ns, got.method, got.launches) == ((111, 226), "wall", 0)


def test_the_judges_instruments_use_the_same_clocks(device: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch
    from kengine.errors import DeviceLost
    from kengine.judge import clock

    class Probe:
        def add_(self, n: int) -> None:
            device.run(KERNEL, 3, "add")

    monkeypatch.setattr(torch, "zeros", lambda size, device: Probe())
    tools = clock.DeviceInstruments()
    assert tools.methods() == ("activity", "event", "wall")
    rotated, _ = calls(device)
    assert tools.measure(rotated, "activity") == [10, 25] and tools.measure(rotated, "event") == [111, 226]
    device.fails["enable"] = 38
    with pytest.raises(DeviceLost, match="times by activity worked before and do not now; only event does"):
        tools.measure(rotated, "activity")
    assert clock.DeviceInstruments().methods() == ("event", "wall")


def test_what_the_driver_tells_of_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    import types

    torch = pytest.importorskip("torch")
    from kengine.device.properties import describe
    from kengine.judge.clock import DeviceInstruments

    found = types.SimpleNamespace(
        name="NVIDIA H200", major=9, minor=0, total_memory=141 << 30, L2_cache_size=60 << 20,
        multi_processor_count=132, memory_clock_rate=3201000, memory_bus_width=6144, clock_rate=1980000,
    )  # fmt: skip
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda index: found)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: found.name)
    monkeypatch.setattr(torch.cuda, "clock_rate", lambda: 1980)
    monkeypatch.setattr(torch.cuda, "temperature", lambda: 41)

    def missing() -> int:
        raise ModuleNotFoundError("pynvml")

    monkeypatch.setattr(torch.cuda, "power_draw", missing)
    told = describe()
    assert (told["arch"], told["l2_bytes"], told["memory_clock_khz"], told["clock_khz"]) == (
        "sm_90", 60 << 20, 3201000, 1980000
    )  # fmt: skip
    tools = DeviceInstruments()
    assert tools.cache_bytes() == 60 << 20
    # Both edges of 3.201 GHz times 6144 bits.
    assert tools.bandwidth() == pytest.approx(4.917e12, rel=1e-3)
    assert dict(tools.state()) == {
        "device": "NVIDIA H200", "clock_mhz": 1980, "temperature_c": 41, "power_mw": None
    }  # fmt: skip
    del found.memory_clock_rate
    assert tools.bandwidth() is None
