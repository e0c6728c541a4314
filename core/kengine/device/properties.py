"""What a device is, and the state that its clocks were in, for the record of a timing."""

from __future__ import annotations

from typing import Any

from kengine.model import JsonValue


def describe() -> dict[str, JsonValue]:
    """Name, architecture, memory and cache in bytes, multiprocessors, and versions of the current device.

    Raises what torch raises where there is no device.
    """
    import torch

    index = torch.cuda.current_device()
    found: Any = torch.cuda.get_device_properties(index)
    is_amd = bool(torch.version.hip)
    arch = str(found.gcnArchName).partition(":")[0] if is_amd else f"sm_{found.major}{found.minor}"
    record: dict[str, JsonValue] = {
        "name": str(found.name),
        "arch": arch,
        "memory_bytes": int(found.total_memory),
        "l2_bytes": int(getattr(found, "L2_cache_size", 0)),
        "multiprocessors": int(found.multi_processor_count),
        "runtime": str(torch.version.hip or torch.version.cuda or ""),
    }
    for key, name in (("clock_rate", "clock_khz"), ("memory_clock_rate", "memory_clock_khz")):
        value = getattr(found, key, None)
        if isinstance(value, int):
            record[name] = value
    return record
