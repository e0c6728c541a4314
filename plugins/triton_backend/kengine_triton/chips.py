"""The chips that Triton kernels are compiled for, and the figures of each that wrappers and occupancy ask about.

Sources: CUDA C++ Programming Guide, "Compute Capabilities" (technical specifications for each capability);
AMD Instinct CDNA 2/3/4 and RDNA 3 instruction set architecture guides, and LLVM's AMDGPU user guide (register files).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from triton.backends.compiler import GPUTarget


@dataclass(frozen=True)
class Chip:
    """One architecture. Sizes in bytes; registers are 32-bit.

    vendor: "cuda" or "hip", as Triton names its backends. capability: what torch reports as (major, minor).
    shared_block: the most shared memory (LDS) that one program may take; shared_unit: what one multiprocessor has.
    registers: 32-bit registers of one multiprocessor (NVIDIA), or vector registers of one lane of a SIMD (AMD).
    granule: registers are handed out in multiples of this, for each warp (NVIDIA) or lane (AMD).
    warps: resident warps on one multiprocessor (NVIDIA) or waves on one SIMD (AMD).
    """

    arch: str
    vendor: str
    name: str
    capability: tuple[int, int]
    warp_size: int
    units: int
    shared_block: int
    shared_unit: int
    registers: int
    granule: int
    warps: int
    blocks: int
    memory: int
    needs: str

    @property
    def is_amd(self) -> bool:
        """Whether this is an AMD chip."""
        return self.vendor == "hip"

    def target(self) -> GPUTarget:
        """The same chip as Triton names it."""
        from triton.backends.compiler import GPUTarget

        arch: Any = self.arch if self.is_amd else self.capability[0] * 10 + self.capability[1]
        return GPUTarget(self.vendor, arch, self.warp_size)


_KIB = 1024
_GIB = 1024**3


def _nvidia(
    major: int, minor: int, name: str, units: int, shared_kib: int, warps: int, blocks: int, memory_gib: int
) -> Chip:
    return Chip(
        arch=f"sm_{major}{minor}",
        vendor="cuda",
        name=name,
        capability=(major, minor),
        warp_size=32,
        units=units,
        shared_block=(shared_kib - 1) * _KIB,
        shared_unit=shared_kib * _KIB,
        registers=65536,
        granule=256,
        warps=warps,
        blocks=blocks,
        memory=memory_gib * _GIB,
        needs=f"an NVIDIA GPU of compute capability {major}.{minor}",
    )


def _amd(
    arch: str, name: str, capability: tuple[int, int], wave: int, units: int, lds_kib: int, file: tuple[int, int, int]
) -> Chip:
    registers, granule, waves = file
    return Chip(
        arch=arch,
        vendor="hip",
        name=name,
        capability=capability,
        warp_size=wave,
        units=units,
        shared_block=lds_kib * _KIB,
        shared_unit=lds_kib * _KIB,
        registers=registers,
        granule=granule,
        warps=waves,
        blocks=32,
        memory=64 * _GIB,
        needs=f"an AMD GPU of architecture {arch}",
    )


CHIPS: dict[str, Chip] = {
    chip.arch: chip
    for chip in (
        _nvidia(8, 0, "NVIDIA A100", 108, 164, 64, 32, 80),
        _nvidia(9, 0, "NVIDIA H100", 132, 228, 64, 32, 80),
        _nvidia(10, 0, "NVIDIA B200", 148, 228, 64, 32, 180),
        _nvidia(12, 0, "NVIDIA GeForce RTX 5090", 170, 100, 48, 24, 32),
        _amd("gfx90a", "AMD Instinct MI250X", (9, 0), 64, 104, 64, (512, 8, 8)),
        _amd("gfx942", "AMD Instinct MI300X", (9, 4), 64, 304, 64, (512, 8, 8)),
        _amd("gfx950", "AMD Instinct MI355X", (9, 5), 64, 256, 160, (512, 8, 8)),
        _amd("gfx1100", "AMD Radeon RX 7900 XTX", (11, 0), 32, 96, 64, (1536, 24, 16)),
    )
}
"""Every architecture that has a target, by its vendor's name."""

EMULATED = CHIPS["sm_90"]
"""The chip that the interpreter says it is: wrappers ask for shared memory, multiprocessors and capability."""


def find(arch: str) -> Chip | None:
    """The chip of an architecture; NVIDIA capabilities that have no entry get the figures of their generation."""
    if arch in CHIPS:
        return CHIPS[arch]
    if arch.startswith("sm_") and arch[3:].isdigit() and len(arch) >= 5:
        major, minor = int(arch[3:-1]), int(arch[-1])
        return {
            7: _nvidia(7, minor, f"NVIDIA sm_{major}{minor}", 80, 97 if minor == 0 else 65, 64 if minor == 0 else 32,
                       32 if minor == 0 else 16, 16),
            8: _nvidia(8, minor, f"NVIDIA sm_{major}{minor}", 84, 164 if minor == 7 else 100, 48,
                       24 if minor == 9 else 16, 24),
            10: _nvidia(10, minor, f"NVIDIA sm_{major}{minor}", 148, 228, 64, 32, 180),
            12: _nvidia(12, minor, f"NVIDIA sm_{major}{minor}", 48, 100, 48, 24, 32),
        }.get(major)  # fmt: skip
    return None
