"""How much of a multiprocessor one kernel fills, and whether a block of it fits at all.

The rules of the CUDA occupancy calculator (cuda_occupancy.h of the CUDA toolkit): registers are given out by warp in
units of 256, warps in groups of 4, shared memory in units of 128 bytes after 1 KiB of each block that the system keeps.
"""

from __future__ import annotations

from kengine_cuda.chips import Chip

_SYSTEM_SHARED = 1024
_WARP = 32


def occupancy(chip: Chip, registers: int, shared: int, threads: int) -> float | None:
    """Resident warps over the most possible, in (0, 1]; None when not even one block fits. `shared` in bytes."""
    warps = -(-threads // _WARP)
    if warps <= 0 or warps > chip.warps:
        return None
    blocks = [chip.blocks, chip.warps // warps]
    if registers:
        of_warp = _up(registers * _WARP, chip.granule)
        blocks.append((chip.registers // of_warp) // 4 * 4 // warps)
    blocks.append(chip.shared_unit // _up(shared + _SYSTEM_SHARED, 128))
    resident = min(blocks) * warps
    return resident / chip.warps if resident > 0 else None


def refusal(chip: Chip, registers: int, shared: int, threads: int) -> str:
    """Why the chip refuses to launch such blocks, "" when it does not. `shared` in bytes, static and dynamic."""
    if threads > 1024:
        return f"{threads} threads a block, the chip takes 1024"
    if shared > chip.shared_block:
        return f"{shared} bytes of shared memory a block, {chip.arch} has {chip.shared_block}"
    warps = _up(-(-threads // _WARP), 4)
    needed = warps * _up(registers * _WARP, chip.granule)
    if needed > chip.registers:
        return f"{registers} registers for each of {threads} threads are {needed}, the chip has {chip.registers}"
    return ""


def _up(value: int, unit: int) -> int:
    return -(-value // unit) * unit
