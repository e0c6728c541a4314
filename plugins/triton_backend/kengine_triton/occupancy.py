"""How much of a multiprocessor one kernel fills, from what it takes.

NVIDIA: the rules of the CUDA occupancy calculator (cuda_occupancy.h of the CUDA toolkit): registers are given out by
warp in units of 256, warps in groups of 4, shared memory in units of 128 bytes after 1 KiB that the system keeps for
each block. AMD: waves of a SIMD are limited by vector registers (LLVM prints that limit in the assembly) and by LDS.
"""

from __future__ import annotations

from kengine_triton.chips import Chip

_SYSTEM_SHARED = 1024
_SIMDS = 4


def nvidia(chip: Chip, registers: int, shared: int, warps: int) -> float | None:
    """Resident warps over the most possible, in (0, 1]; None when not even one block fits. Sizes in bytes."""
    if warps <= 0 or warps > chip.warps:
        return None
    blocks = [chip.blocks, chip.warps // warps]
    if registers:
        of_warp = _up(registers * chip.warp_size, chip.granule)
        blocks.append((chip.registers // of_warp) // 4 * 4 // warps)
    blocks.append(chip.shared_unit // _up(shared + _SYSTEM_SHARED, 128))
    resident = min(blocks) * warps
    return resident / chip.warps if resident > 0 else None


def amd(chip: Chip, waves_by_registers: int, shared: int, warps: int) -> float | None:
    """Resident waves of a SIMD over the most possible, in (0, 1]; None when it cannot run. Sizes in bytes.

    waves_by_registers: what the registers alone allow, as LLVM prints it.
    """
    if warps <= 0 or waves_by_registers <= 0:
        return None
    waves = float(min(waves_by_registers, chip.warps))
    if shared:
        groups = chip.shared_unit // shared
        waves = min(waves, groups * warps / _SIMDS)
    return min(1.0, waves / chip.warps) if waves > 0 else None


def amd_waves(chip: Chip, registers: int) -> int:
    """Waves that fit one SIMD with so many vector registers (LLVM, AMDGPU usage: register allocation granules)."""
    return min(chip.warps, chip.registers // max(chip.granule, _up(registers, chip.granule)))


def _up(value: int, unit: int) -> int:
    return -(-value // unit) * unit
