"""The chips that HIP code is compiled for, and the figures that compiling and occupancy need.

Sources: AMD Instinct CDNA 2, 3 and 4 and RDNA 3 instruction set architecture guides; LLVM, "User Guide for AMDGPU
Backend" (register files, allocation granules, waves of an execution unit).
"""

from __future__ import annotations

from dataclasses import dataclass

_KIB = 1024


@dataclass(frozen=True)
class Chip:
    """One architecture. Sizes in bytes, registers of 32 bits.

    lanes: of a wavefront. isa: its number in the device library, 1000 * major + 100 * minor + stepping.
    registers: vector registers of one lane that a SIMD has; granule: they are handed out in multiples of this.
    waves: wavefronts that one SIMD holds at most. lds: of a compute unit; lds_granule: handed out in multiples.
    unified: accumulation registers are part of the same file. units: compute units of the product named.
    """

    arch: str
    name: str
    lanes: int
    isa: int
    registers: int
    granule: int
    waves: int
    lds: int
    lds_granule: int
    unified: bool
    units: int


CHIPS = {
    chip.arch: chip
    for chip in (
        Chip("gfx90a", "AMD Instinct MI250X", 64, 9010, 512, 8, 8, 64 * _KIB, 512, True, 104),
        Chip("gfx942", "AMD Instinct MI300X", 64, 9402, 512, 8, 8, 64 * _KIB, 512, True, 304),
        Chip("gfx950", "AMD Instinct MI355X", 64, 9500, 512, 8, 8, 160 * _KIB, 1280, True, 256),
        Chip("gfx1100", "AMD Radeon RX 7900 XTX", 32, 11000, 1536, 24, 16, 64 * _KIB, 1024, False, 96),
    )
}
"""Every architecture that has a target, by its name."""

EMULATED = CHIPS["gfx942"]
"""The chip that the emulator says it is."""

NARROW = CHIPS["gfx1100"]
"""A chip of the other wavefront width."""


def find(arch: str) -> Chip | None:
    """The chip of an architecture, None for one that is not known."""
    return CHIPS.get(arch)
