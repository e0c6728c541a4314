"""Recording of device activity against a double of the vendor's library, which writes records as the real one does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from device_doubles import COPY, FILL, KERNEL, OTHER, Flush, Library, Marks
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
        library.run(COPY, 20, nbytes=4096)
        library.run(OTHER, 5)
        library.run(FILL, 30, nbytes=99)
        library.run(KERNEL, 40, "tail")
        assert records == []
    assert records == [
        Activity("kernel", "softmax", 1100, 1150, 13),
        Activity("copy", "copy", 1250, 1270, 7, 4096),
        Activity("fill", "fill", 1475, 1505, 7, 99),
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


@pytest.mark.parametrize("broken", ["untimed", "dropped"])
def test_a_record_that_is_not_complete_is_none(library: Library, broken: str) -> None:
    recorder = Cupti()
    setattr(library, broken, {2} if broken == "untimed" else 1)
    with pytest.raises(CuptiError, match="1 of 3 activities were lost or have no times"), recorder.record():
        for _ in range(3 if broken == "untimed" else 2):
            library.run(KERNEL, 10, "k")
    assert library.enabled == set()
    with recorder.record() as again:
        library.run(KERNEL, 10, "later")
    assert [record.name for record in again] == ["later"]


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

    Flush.library = Marks.library = library
    monkeypatch.setattr(activity, "Marks", Marks)
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


@pytest.mark.parametrize("ahead", [-5_000_000, -300, 300, 5_000_000])
def test_calls_are_told_apart_though_the_clocks_disagree(device: Library, ahead: int) -> None:
    device.ahead, device.clock = ahead, 10_000_000
    rotated, _ = calls(device)
    got = timing.time_calls(rotated, TimingPlan(5, 0, "activity"))
    assert (got.samples_ns, got.launches) == ((10, 25, 10, 25, 10), 7)


FAILURES = {
    "refusal": (lambda d: d.fails.update(enable=38), "cuptiActivityEnable failed with CUPTI error 38"),
    # In order: flush, mark, kernel, mark, and the same for the second call, which has two kernels.
    "mark": (lambda d: d.missing.add(4), "has 3 of the 4 marks"),
    "kernel": (lambda d: d.missing.add(3), "1 of 2 calls left no device activity"),
    "part of a call": (lambda d: d.untimed.add(8), "1 of 9 activities were lost or have no times"),
    "dropped": (lambda d: setattr(d, "dropped", 3), "3 of 12 activities were lost"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAILURES)
def test_what_cannot_be_recorded_is_said_and_not_timed_by_another_clock(device: Library, name: str) -> None:
    """Nor are the calls made again: those that write to their inputs are right once."""
    rotated, made = calls(device)
    fail, reason = FAILURES[name]
    fail(device)
    got = timing.time_calls(rotated, TimingPlan(2, 0, "activity"))
    assert (got.samples_ns, got.method, got.launches) == ((), "activity", 0) and reason in got.failed
    assert made == ([] if name == "refusal" else ["a", "b"])
    device.fails.clear()
    assert timing.time_calls(rotated, TimingPlan(2, 0, "activity")).samples_ns == (10, 25)


def test_events_are_the_clock_when_they_are_asked_for(device: Library) -> None:
    rotated, _ = calls(device)
    got = timing.time_calls(rotated, TimingPlan(3, 0, "event"))
    # Between two events: 100 before each kernel of the double, the kernel, and one tick of the second event.
    assert (got.samples_ns, got.method, got.launches) == ((111, 226, 111), "event", 0)


def test_a_call_that_leaves_no_activity_has_no_time(device: Library) -> None:
    got = timing.time_calls([lambda: None], TimingPlan(2, 0, "activity"))
    assert got.samples_ns == () and got.failed == "2 of 2 calls left no device activity (6 records in all)"


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
    device.missing.add(device.done + 3)
    assert tools.measure(rotated, "activity") == [10, 25], "what fails once is asked again"
    device.fails["enable"] = 38
    changes = len(device.changes)
    with pytest.raises(DeviceLost, match="the reference cannot be timed by activity: cuptiActivityEnable failed"):
        tools.measure(rotated, "activity")
    tried = [change for change in device.changes[changes:] if change[0] == "enable"]
    assert len(tried) == clock.ATTEMPTS
    lesser = clock.DeviceInstruments()
    assert lesser.methods() == ("event", "wall")
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "a GPU")
    assert "CUPTI error 38" in lesser.state()["no_activity"] and "no_activity" not in tools.state()


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
