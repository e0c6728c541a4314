"""The judge's instruments: how long the baseline takes, by the same method as a candidate's times, and a wall clock."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol

from kengine.device.timing import time_calls
from kengine.errors import DeviceLost
from kengine.judge.ceilings import Ceilings, measure
from kengine.model import JsonValue, Timing, TimingPlan

Method = Literal["activity", "event", "wall"]
METHODS: tuple[Method, ...] = ("activity", "event", "wall")
"""From the most to the least exact: device activity as the vendor records it, device events, the host's clock."""
ATTEMPTS = 3
"""Batches that are asked for before a clock counts as one that does not work: a recorder that fails once has not failed
for good, and one that keeps failing must not hold up the device."""

Call = Callable[[], Any]


class Instruments(Protocol):
    """What timing asks of a device; a test gives its own."""

    def methods(self) -> tuple[Method, ...]: ...
    def measure(self, calls: Sequence[Call], method: Method) -> list[int]: ...
    def wall(self) -> int: ...
    def cache_bytes(self) -> int: ...
    def bandwidth(self) -> float | None: ...
    def ceilings(self) -> Ceilings: ...
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

    def ceilings(self) -> Ceilings:
        """Not measured on a host."""
        return Ceilings()

    def state(self) -> Mapping[str, JsonValue]:
        """Nothing that a reader of times would need."""
        return {"device": "host"}


class DeviceInstruments(HostInstruments):
    """A CUDA or ROCm device, by the same clocks and with the same cold cache as a candidate's runner."""

    def __init__(self) -> None:
        self._methods: tuple[Method, ...] = ()
        self._refusal = ""
        self._ceilings: Ceilings | None = None

    def methods(self) -> tuple[Method, ...]:
        """What works here, found out once."""
        if not self._methods:
            import torch

            probe = torch.zeros(1024, device="cuda")
            timing = _time([lambda: probe.add_(1)] * 2, TimingPlan(2, 1, "activity"))
            self._methods, self._refusal = METHODS[1 if timing.failed else 0 :], timing.failed
        return self._methods

    def measure(self, calls: Sequence[Call], method: Method) -> list[int]:
        """Nanoseconds of device time of each call, or of wall time with the device waited for. Raises DeviceLost when
        that clock does not work, also when the calls are made again."""
        timing = _time(list(calls), TimingPlan(len(calls), 0, method))
        if timing.failed:
            raise DeviceLost(f"the reference cannot be timed by {method}: {timing.failed}")
        return list(timing.samples_ns)

    def cache_bytes(self) -> int:
        """Size of the last-level cache, which rotating inputs must exceed."""
        return int(getattr(_properties(), "L2_cache_size", 0) or 64 << 20)

    def bandwidth(self) -> float | None:
        """Peak bytes a second of the device's memory (both edges of its clock times the bus), None when not known."""
        properties = _properties()
        clock_khz = getattr(properties, "memory_clock_rate", 0) or 0
        bits = getattr(properties, "memory_bus_width", 0) or 0
        return 2.0 * clock_khz * 1e3 * bits / 8 if clock_khz and bits else None

    def ceilings(self) -> Ceilings:
        """Rates of memory and matrix products, measured once."""
        if self._ceilings is None:
            method = self.methods()[0]
            self._ceilings = measure(lambda calls: self.measure(calls, method))
        return self._ceilings

    def state(self) -> Mapping[str, JsonValue]:
        """Name, clocks and temperature, as far as the driver tells."""
        import torch

        state: dict[str, JsonValue] = {"device": torch.cuda.get_device_name()}
        for name, ask in (("clock_mhz", "clock_rate"), ("temperature_c", "temperature"), ("power_mw", "power_draw")):
            try:
                state[name] = int(getattr(torch.cuda, ask)())
            except Exception:
                state[name] = None  # needs the vendor's management library, which is often not there
        if self._refusal:
            state["no_activity"] = self._refusal
        if self._ceilings is not None:
            state["memory_bytes_per_s"] = self._ceilings.bytes_per_s
            state["operations_per_s"] = self._ceilings.best
        return state


def _time(calls: Sequence[Call], plan: TimingPlan) -> Timing:
    for _ in range(ATTEMPTS):
        timing = time_calls(calls, plan)
        if not timing.failed:
            break
    return timing


def _properties() -> Any:
    import torch

    return torch.cuda.get_device_properties(torch.cuda.current_device())


def instruments_for(device: str) -> Instruments:
    """The instruments of "cpu" or "cuda"."""
    return DeviceInstruments() if device == "cuda" else HostInstruments()
