"""How much of a compute unit one kernel fills, from what it takes.

The rules are those of LLVM's AMDGPU backend (GCNSubtarget: occupancy by vector registers, by scalar registers, and by
local memory), described in its user guide: vector registers are handed out to a wave in granules, scalar registers
limit only before gfx10, and the local memory of a compute unit is shared by the work-groups that reside there.
"""

from __future__ import annotations

from kengine_hip.chips import Chip

SOURCE = "LLVM AMDGPU GCNSubtarget: registers, local memory and wave slots"
"""Where the formula comes from, for records."""

SIMDS = 4
"""Execution units of a compute unit (gfx9), or of a work-group processor in CU mode times two (gfx10 and later)."""

_GROUPS = {True: 16, False: 32}
_SCALAR = ((80, 10), (88, 9), (100, 8))


def waves_by_registers(chip: Chip, vector: int, scalar: int) -> int:
    """Waves that fit one SIMD with so many vector and scalar registers; 0 when not one fits."""
    if vector > chip.registers:
        return 0
    given = max(chip.granule, _up(vector, chip.granule))
    waves = min(chip.waves, chip.registers // given)
    if chip.lanes == 64:
        waves = min(waves, next((most for limit, most in _SCALAR if scalar <= limit), 7))
    return waves


def waves_by_memory(chip: Chip, shared: int, threads: int) -> float:
    """Waves of one SIMD that local memory allows, for work-groups of so many threads; may be a fraction."""
    of_group = _up(threads, chip.lanes) // chip.lanes
    groups = min(chip.lds // _up(shared, chip.lds_granule), _GROUPS[chip.lanes == 64]) if shared else chip.waves * SIMDS
    return min(float(chip.waves), groups * of_group / SIMDS)


def occupancy(chip: Chip, vector: int, scalar: int, shared: int, threads: int) -> float | None:
    """Resident waves over the most that a SIMD holds, in (0, 1]; None when the kernel cannot run.

    shared: bytes of local memory of one work-group, static and dynamic; threads: of one work-group.
    """
    if threads <= 0 or shared > chip.lds:
        return None
    waves = min(float(waves_by_registers(chip, vector, scalar)), waves_by_memory(chip, shared, threads))
    return min(1.0, waves / chip.waves) if waves > 0 else None


def refusal(chip: Chip, most_threads: int, threads: int, shared: int) -> str:
    """Why a chip refuses a launch, "" when it does not. most_threads: of a work-group, as the kernel was compiled."""
    if threads > most_threads:
        return f"{threads} threads in a block; the kernel was compiled for at most {most_threads}"
    if not threads:
        return "a block without threads"
    if shared > chip.lds:
        return f"{shared} bytes of local memory for a block; {chip.arch} has {chip.lds}"
    return ""


def _up(value: int, unit: int) -> int:
    return -(-value // unit) * unit
