"""What compiled kernels take of their chip: registers, spills, shared and local memory, occupancy."""

from __future__ import annotations

from collections.abc import Iterable

from kengine.model import JsonValue, KernelResources

from kengine_cuda.chips import Chip
from kengine_cuda.occupancy import occupancy
from kengine_cuda.recorder import Seen
from kengine_cuda.toolchain.compiler import Binary


def describe(binaries: Iterable[Binary], seen: dict[str, Seen], chip: Chip) -> tuple[KernelResources, ...]:
    """Every kernel that was compiled; occupancy for those whose launch was seen, since it depends on the block."""
    found: list[KernelResources] = []
    for binary in binaries:
        names = {symbol: name for name, symbol in binary.symbols.items()}
        for symbol, usage in binary.usage.items():
            launched = seen.get(symbol)
            details: dict[str, JsonValue] = {
                "local_bytes": usage.stack, "spill_stores": usage.spill_stores, "spill_loads": usage.spill_loads,
                "static_shared": usage.shared, "compiler": binary.by,
            }  # fmt: skip
            share = None
            if launched is not None:
                details |= {"threads": launched.threads, "dynamic_shared": launched.shared}
                share = occupancy(chip, usage.registers, usage.shared + launched.shared, launched.threads)
            shared = usage.shared + (launched.shared if launched else 0)
            spills = usage.spill_stores + usage.spill_loads
            record = KernelResources(names.get(symbol, symbol), usage.registers, spills, shared, share, details)
            if record not in found:
                found.append(record)
    return tuple(found)
