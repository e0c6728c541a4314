"""The judge's instruments: how long the baseline takes, by the same method as a candidate's times, and a wall clock."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol

from kengine.model import JsonValue

Method = Literal["activity", "event", "wall"]
METHODS: tuple[Method, ...] = ("activity", "event", "wall")
"""From the most to the least exact: device activity as the vendor records it, device events, the host's clock."""

Call = Callable[[], Any]


class Instruments(Protocol):
    """What timing asks of a device; a test gives its own."""

    def methods(self) -> tuple[Method, ...]: ...
    def measure(self, calls: Sequence[Call], method: Method) -> list[int]: ...
    def wall(self) -> int: ...
    def cache_bytes(self) -> int: ...
    def bandwidth(self) -> float | None: ...
    def state(self) -> Mapping[str, JsonValue]: ...


class HostInstruments:
    """The host's clock, for targets that run on the processor."""

    def methods(self) -> tuple[Method, ...]:
        """The host's clock is all there is."""
        return ("wall",)

    def measure(self, calls: Sequence[Call], method: Method) -> list[int]:
        """Nanoseconds of each call, one after the other."""
        times = []
        for call in calls:
            begun = time.perf_counter_ns()
            call()
            times.append(max(time.perf_counter_ns() - begun, 1))
        return times

    def wall(self) -> int:
        """Nanoseconds on a clock that only runs forward."""
        return time.perf_counter_ns()

    def cache_bytes(self) -> int:
        """Not known on a host."""
        return 0

    def bandwidth(self) -> float | None:
        """Not known on a host."""
        return None

    def state(self) -> Mapping[str, JsonValue]:
        """Nothing that a reader of times would need."""
        return {"device": "host"}


class DeviceInstruments(HostInstruments):
    """A CUDA or ROCm device through torch: recorded activity where its profiler works, else events."""

    def __init__(self) -> None:
        self._methods: tuple[Method, ...] = ()

    def methods(self) -> tuple[Method, ...]:
        """What works here, tried once."""
        if not self._methods:
            import torch

            probe = torch.zeros(1024, device="cuda")
            try:
                times = _by_activity([lambda: probe.add_(1), lambda: probe.add_(1)])
                works = len(times) == 2 and all(t > 0 for t in times)
            except (RuntimeError, ValueError, AttributeError):
                works = False
            self._methods = METHODS if works else ("event", "wall")
        return self._methods

    def measure(self, calls: Sequence[Call], method: Method) -> list[int]:
        """Nanoseconds of device time of each call, or of wall time with the device waited for."""
        if method == "activity":
            return _by_activity(calls)
        if method == "event":
            return _by_events(calls)
        import torch

        def waited(call: Call) -> Call:
            return lambda: (call(), torch.cuda.synchronize())

        torch.cuda.synchronize()
        return super().measure([waited(call) for call in calls], method)

    def cache_bytes(self) -> int:
        """Size of the last-level cache, which rotating inputs must exceed."""
        return int(getattr(_properties(), "L2_cache_size", 0) or 64 << 20)

    def bandwidth(self) -> float | None:
        """Peak bytes a second of the device's memory (both edges of its clock times the bus), None when not known."""
        properties = _properties()
        clock_khz = getattr(properties, "memory_clock_rate", 0) or 0
        bits = getattr(properties, "memory_bus_width", 0) or 0
        return 2.0 * clock_khz * 1e3 * bits / 8 if clock_khz and bits else None

    def state(self) -> Mapping[str, JsonValue]:
        """Name, clocks and temperature, as far as the driver tells."""
        import torch

        state: dict[str, JsonValue] = {"device": torch.cuda.get_device_name()}
        for name, ask in (("clock_mhz", "clock_rate"), ("temperature_c", "temperature"), ("power_mw", "power_draw")):
            try:
                state[name] = int(getattr(torch.cuda, ask)())
            except Exception:
                state[name] = None  # needs the vendor's management library, which is often not there
        return state


def _properties() -> Any:
    import torch

    return torch.cuda.get_device_properties(torch.cuda.current_device())


def _by_events(calls: Sequence[Call]) -> list[int]:
    import torch

    pairs = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in calls]
    torch.cuda.synchronize()
    for (begun, done), call in zip(pairs, calls):
        begun.record()
        call()
        done.record()
    torch.cuda.synchronize()
    return [max(int(begun.elapsed_time(done) * 1e6), 1) for begun, done in pairs]


_MARK = "spin_kernel"


def _by_activity(calls: Sequence[Call]) -> list[int]:
    """Device time of each call: the length of the union of its kernels' and copies' intervals.

    A short spin between calls marks where one ends and the next begins.
    """
    import torch
    from torch.profiler import ProfilerActivity, profile

    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CUDA]) as record:
        torch.cuda._sleep(1)
        for call in calls:
            call()
            torch.cuda._sleep(1)
        torch.cuda.synchronize()
    events = [
        (int(e.start_ns()), int(e.duration_ns()), str(e.name()))
        for e in record.profiler.kineto_results.events()
        if e.device_type() == torch.autograd.DeviceType.CUDA
    ]
    return split_activity(events, len(calls))


def split_activity(events: Sequence[tuple[int, int, str]], calls: int) -> list[int]:
    """Busy nanoseconds of each call from (start, duration, name) of all device activity, calls kept apart by marks.

    Raises ValueError when the record does not hold one mark more than there were calls.
    """
    batches: list[list[tuple[int, int]]] = []
    for start, duration, name in sorted(events):
        if _MARK in name:
            batches.append([])
        elif batches:
            batches[-1].append((start, start + duration))
    if len(batches) != calls + 1:
        raise ValueError(f"{len(batches)} marks recorded for {calls} calls")
    return [_union(batch) for batch in batches[:-1]]


def _union(intervals: list[tuple[int, int]]) -> int:
    busy = 0
    end = 0
    for start, stop in sorted(intervals):
        busy += max(stop - max(start, end), 0)
        end = max(end, stop)
    return busy


def instruments_for(device: str) -> Instruments:
    """The instruments of "cpu" or "cuda"."""
    return DeviceInstruments() if device == "cuda" else HostInstruments()
