"""`cupy.cuda` of the facade: one device, streams and events that are order only, and what the runtime answers."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from kengine.native.cupy.arrays import MemoryPointer, UnownedMemory, poison
from kengine.pretence import Figures


class Stream:
    """Work is done when its call returns, in every stream."""

    null: Stream
    ptr = 0
    device_id = 0

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: Any) -> None:
        pass

    def use(self) -> Stream:
        """Make it the current one."""
        return self

    def synchronize(self) -> None:
        """Nothing is left to wait for."""

    def wait_event(self, event: Any) -> None:
        """Nothing is left to wait for."""

    def record(self, event: Any = None) -> Any:
        """The time of now."""
        made = event or Event()
        made.record(self)
        return made

    @property
    def done(self) -> bool:
        """Everything is."""
        return True


Stream.null = Stream()


class Event:
    """The host's clock when it was recorded."""

    ptr = 0

    def __init__(self, *_: Any, **__: Any) -> None:
        self.at = time.perf_counter()

    def record(self, stream: Any = None) -> None:
        """Note the time."""
        self.at = time.perf_counter()

    def synchronize(self) -> None:
        """Nothing is left to wait for."""

    @property
    def done(self) -> bool:
        """It has happened."""
        return True


def _device(figures: Figures) -> type:
    class Device:
        """The only device."""

        id = 0
        compute_capability = f"{figures.capability[0]}{figures.capability[1]}"
        mem_info = (figures.memory, figures.memory)
        attributes = {  # noqa: RUF012 - one object, as in CuPy
            "MaxThreadsPerBlock": 1024, "WarpSize": figures.warp_size, "MultiProcessorCount": figures.units,
            "MaxSharedMemoryPerBlock": 49152, "MaxSharedMemoryPerBlockOptin": figures.shared_block,
            "MaxSharedMemoryPerMultiprocessor": figures.shared_unit, "ComputeCapabilityMajor": figures.capability[0],
            "ComputeCapabilityMinor": figures.capability[1], "MaxThreadsPerMultiProcessor": figures.threads_per_unit,
            "MaxRegistersPerBlock": 65536, "MaxBlockDimX": 1024, "MaxGridDimX": 2147483647,
        }  # fmt: skip

        def __init__(self, device: Any = 0) -> None:
            if int(getattr(device, "id", device) or 0) != 0:
                raise RuntimeError("cudaErrorInvalidDevice: invalid device ordinal")

        def __enter__(self) -> Any:
            return self

        def __exit__(self, *_: Any) -> None:
            pass

        def use(self) -> Any:
            """Make it the current one."""
            return self

        def synchronize(self) -> None:
            """Nothing is left to wait for."""

        def __int__(self) -> int:
            return 0

        def __eq__(self, other: object) -> bool:
            return getattr(other, "id", other) == 0

        def __hash__(self) -> int:
            return 0

    return Device


def _runtime(figures: Figures) -> dict[str, Any]:
    properties = {
        "name": figures.name.encode(), "multiProcessorCount": figures.units, "warpSize": figures.warp_size,
        "maxThreadsPerBlock": 1024, "sharedMemPerBlock": 49152, "sharedMemPerBlockOptin": figures.shared_block,
        "sharedMemPerMultiprocessor": figures.shared_unit, "totalGlobalMem": figures.memory,
        "major": figures.capability[0], "minor": figures.capability[1], "regsPerBlock": 65536,
        "maxThreadsPerMultiProcessor": figures.threads_per_unit, "gcnArchName": figures.arch.encode(),
    }  # fmt: skip
    nothing = lambda *_, **__: None  # noqa: E731
    return {
        "getDevice": lambda: 0, "getDeviceCount": lambda: 1, "setDevice": nothing, "deviceSynchronize": nothing,
        "streamSynchronize": nothing, "getDeviceProperties": lambda *_: dict(properties), "is_hip": figures.is_amd,
        "runtimeGetVersion": lambda: 13000, "driverGetVersion": lambda: 13000, "CUDARuntimeError": RuntimeError,
    }  # fmt: skip


def _allocate(size: int) -> MemoryPointer:
    return MemoryPointer(poison(np.empty(int(size), np.uint8)))


def modules(figures: Figures) -> dict[str, dict[str, Any]]:
    """Members of each module below `cupy`, parents first."""
    device = _device(figures)
    streams = {"Stream": Stream, "ExternalStream": Stream, "Event": Event, "get_current_stream": lambda *_: Stream.null,
               "get_elapsed_time": lambda a, b: (b.at - a.at) * 1e3}  # fmt: skip
    memory = {"MemoryPointer": MemoryPointer, "UnownedMemory": UnownedMemory, "alloc": _allocate}
    runtime = _runtime(figures)
    return {
        "cupy.cuda": {**streams, **memory, "Device": device, "is_available": lambda: True,
                      "get_device_id": lambda: 0, "get_local_runtime_version": lambda: 13000},
        "cupy.cuda.runtime": runtime,
        "cupy.cuda.stream": streams,
        "cupy.cuda.memory": memory,
        "cupy.cuda.device": {"Device": device, "get_device_id": lambda: 0,
                             "get_compute_capability": lambda: str(device.compute_capability)},  # type: ignore[attr-defined]
    }  # fmt: skip
