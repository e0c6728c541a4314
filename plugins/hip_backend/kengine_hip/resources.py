"""What a compiled kernel takes of its chip, from the notes of its code object."""

from __future__ import annotations

from collections.abc import Sequence

from kengine.model import JsonValue, KernelResources
from kengine.native.driver import Configuration

from kengine_hip.chips import Chip
from kengine_hip.code_object import KernelCode
from kengine_hip.demangle import demangle
from kengine_hip.occupancy import SOURCE, occupancy

_REGISTER_BYTES = 4


def describe(kernel: KernelCode, chip: Chip, waves: int | None, launches: Sequence[Configuration]) -> KernelResources:
    """The record of one kernel. waves: of a SIMD by the compiler's own count; launches: with which it was launched.

    Occupancy is that of the largest launch; without one, of the largest work-group that the kernel allows.
    """
    dynamic = max((launch.shared for launch in launches), default=0)
    threads = max((_threads(launch) for launch in launches), default=kernel.threads or chip.lanes)
    shared = kernel.shared + dynamic
    details: dict[str, JsonValue] = {
        "sgpr": kernel.scalar,
        "agpr": kernel.accumulation,
        "sgpr_spills": kernel.scalar_spills,
        "vgpr_spills": kernel.vector_spills,
        "scratch_bytes": kernel.scratch,
        "static_lds": kernel.shared,
        "wavefront_size": kernel.lanes,
        "max_threads": kernel.threads,
        "threads": threads,
        "occupancy_source": SOURCE,
    }
    if kernel.dynamic_stack:
        details["dynamic_stack"] = True
    if waves is not None:
        details["compiler_waves"] = waves
    return KernelResources(
        demangle(kernel.name),
        kernel.vector,
        _REGISTER_BYTES * kernel.vector_spills,
        shared,
        occupancy(chip, kernel.vector, kernel.scalar, shared, threads),
        details,
    )


def log_of(kernel: KernelCode) -> str:
    """One line about a kernel, for the log of an artifact."""
    return (
        f"{demangle(kernel.name)}: {kernel.vector} VGPRs ({kernel.accumulation} of them AGPRs), {kernel.scalar} SGPRs, "
        f"{kernel.vector_spills} VGPR spills, {kernel.scalar_spills} SGPR spills, {kernel.shared} bytes LDS, "
        f"{kernel.scratch} bytes scratch a lane, wavefronts of {kernel.lanes}"
    )


def _threads(launch: Configuration) -> int:
    return launch.block[0] * launch.block[1] * launch.block[2]
