"""What host code is told of a chip that is not here."""

from __future__ import annotations

from kengine.pretence import Figures

from kengine_hip.chips import Chip

_MEMORY = {"gfx90a": 64 << 30, "gfx942": 192 << 30, "gfx950": 288 << 30, "gfx1100": 24 << 30}
_CAPABILITY = {"gfx90a": (9, 0), "gfx942": (9, 4), "gfx950": (9, 5), "gfx1100": (11, 0)}
_THREADS = {64: 2048, 32: 2048}


def figures_of(chip: Chip) -> Figures:
    """Figures of a chip, as torch for ROCm would report them."""
    return Figures(
        arch=chip.arch,
        name=chip.name,
        is_amd=True,
        capability=_CAPABILITY[chip.arch],
        warp_size=chip.lanes,
        units=chip.units,
        threads_per_unit=_THREADS[chip.lanes],
        shared_block=chip.lds,
        shared_unit=chip.lds,
        memory=_MEMORY[chip.arch],
    )
