"""The chips that CUDA kernels are compiled for, and the figures of each that host code and occupancy ask about.

Source: CUDA C++ Programming Guide, "Compute Capabilities" (technical specifications for each capability); the number
of multiprocessors and the memory are those of the product named.
"""

from __future__ import annotations

from dataclasses import dataclass

from kengine.pretence import Figures

_KIB, _GIB = 1024, 1024**3


@dataclass(frozen=True)
class Chip:
    """One architecture. Sizes in bytes.

    shared_block: the most shared memory of one block; shared_unit: of one multiprocessor. warps, blocks: resident on
    one multiprocessor at most.
    """

    arch: str
    name: str
    capability: tuple[int, int]
    units: int
    shared_block: int
    shared_unit: int
    warps: int
    blocks: int
    memory: int

    registers = 65536
    """32-bit registers of one multiprocessor, and the most of one block."""
    granule = 256
    """Registers are given out by warp in multiples of this."""

    @property
    def needs(self) -> str:
        """What a machine must have to launch here."""
        major, minor = self.capability
        return f"an NVIDIA GPU of compute capability {major}.{minor}"

    @property
    def figures(self) -> Figures:
        """The same for host code."""
        return Figures(
            self.arch, self.name, False, self.capability, 32, self.units, 32 * self.warps, self.shared_block,
            self.shared_unit, self.memory,
        )  # fmt: skip


def _chip(
    arch: str, name: str, capability: tuple[int, int], units: int, shared_kib: int, warps: int, blocks: int, gib: int
) -> Chip:
    # The system keeps one KiB of each block's shared memory.
    return Chip(
        arch, name, capability, units, (shared_kib - 1) * _KIB, shared_kib * _KIB, warps, blocks, gib * _GIB
    )  # fmt: skip


CHIPS: dict[str, Chip] = {
    chip.arch: chip
    for chip in (
        _chip("sm_80", "NVIDIA A100", (8, 0), 108, 164, 64, 32, 80),
        _chip("sm_90", "NVIDIA H100", (9, 0), 132, 228, 64, 32, 80),
        _chip("sm_90a", "NVIDIA H100, with its architecture-specific instructions", (9, 0), 132, 228, 64, 32, 80),
        _chip("sm_100", "NVIDIA B200", (10, 0), 148, 228, 64, 32, 180),
        _chip("sm_120", "NVIDIA GeForce RTX 5090", (12, 0), 170, 100, 48, 24, 32),
    )
}
"""Every architecture that has a target, by its vendor's name."""

EMULATED = CHIPS["sm_90"]
"""The chip that the emulator says it is, and whose launch limits it holds launches to."""


def find(arch: str) -> Chip | None:
    """The chip of an architecture; a capability that has no entry gets the figures of its generation."""
    if arch in CHIPS:
        return CHIPS[arch]
    digits = arch.removeprefix("sm_").rstrip("af")
    if not arch.startswith("sm_") or not digits.isdigit() or len(digits) < 2:
        return None
    major, minor = int(digits[:-1]), int(digits[-1])
    name = f"NVIDIA {arch}"
    if major == 7:
        shared, warps, blocks = (97, 64, 32) if minor == 0 else (65, 32, 16)
        return _chip(arch, name, (major, minor), 80, shared, warps, blocks, 16)
    if major == 8:
        return _chip(arch, name, (major, minor), 84, 164 if minor == 7 else 100, 48, 24 if minor == 9 else 16, 24)
    if major == 10:
        return _chip(arch, name, (major, minor), 148, 228, 64, 32, 180)
    if major == 12:
        return _chip(arch, name, (major, minor), 48, 100, 48, 24, 32)
    return None
