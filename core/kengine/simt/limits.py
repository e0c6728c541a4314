"""Launch limits of the chips that the emulator stands in for."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class DeviceLimits:
    """Limits that a launch is held to, and what device queries answer. Sizes are in bytes.

    `shared_per_block` is what a kernel gets without asking; `shared_per_block_optin` the most that it may ask for by
    its maximum-dynamic-shared-memory attribute. Source: CUDA C++ Programming Guide, table of technical specifications
    per compute capability; AMD CDNA and RDNA instruction set documents (LDS size).
    """

    name: str = "sm_90"
    lanes: int = 32
    threads_per_block: int = 1024
    block: tuple[int, int, int] = (1024, 1024, 64)
    grid: tuple[int, int, int] = (2**31 - 1, 65535, 65535)
    shared_per_block: int = 48 << 10
    shared_per_block_optin: int = 227 << 10
    multiprocessors: int = 132
    compute_capability: tuple[int, int] = (9, 0)

    @classmethod
    def of(cls, arch: str) -> DeviceLimits:
        """Limits of an architecture such as sm_90 or gfx942. ValueError names an unknown one and lists those known."""
        if arch not in _KNOWN:
            raise ValueError(f"no launch limits for architecture {arch!r}; known: {', '.join(sorted(_KNOWN))}")
        return _KNOWN[arch]


def _nvidia(arch: str, capability: tuple[int, int], optin: int, multiprocessors: int) -> DeviceLimits:
    return DeviceLimits(
        name=arch,
        compute_capability=capability,
        shared_per_block_optin=optin << 10,
        multiprocessors=multiprocessors,
    )


def _amd(arch: str, lanes: int, capability: tuple[int, int], lds: int, units: int) -> DeviceLimits:
    return DeviceLimits(
        name=arch,
        lanes=lanes,
        block=(1024, 1024, 1024),
        grid=(2**31 - 1, 2**31 - 1, 2**31 - 1),
        shared_per_block=lds << 10,
        shared_per_block_optin=lds << 10,
        multiprocessors=units,
        compute_capability=capability,
    )


_KNOWN = {
    limits.name: limits
    for limits in (
        _nvidia("sm_70", (7, 0), 96, 80),
        _nvidia("sm_75", (7, 5), 64, 40),
        _nvidia("sm_80", (8, 0), 163, 108),
        _nvidia("sm_86", (8, 6), 99, 84),
        _nvidia("sm_89", (8, 9), 99, 128),
        _nvidia("sm_90", (9, 0), 227, 132),
        _nvidia("sm_100", (10, 0), 227, 148),
        _nvidia("sm_120", (12, 0), 99, 170),
        _amd("gfx906", 64, (9, 0), 64, 60),
        _amd("gfx908", 64, (9, 0), 64, 120),
        _amd("gfx90a", 64, (9, 0), 64, 104),
        _amd("gfx942", 64, (9, 4), 64, 304),
        _amd("gfx950", 64, (9, 5), 160, 256),
        _amd("gfx1030", 32, (10, 3), 64, 40),
        _amd("gfx1100", 32, (11, 0), 64, 48),
        _amd("gfx1200", 32, (12, 0), 64, 32),
    )
}
_KNOWN["sm_90a"] = replace(_KNOWN["sm_90"], name="sm_90a")
