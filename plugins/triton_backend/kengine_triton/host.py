"""A device for host code to see where there is none: wrappers run unchanged on the CPU, for emulation and recording."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kengine.pretence import Figures

    from kengine_triton.chips import Chip


@contextmanager
def pretend(chip: Chip, poison: bool, lenient: bool = False) -> Iterator[None]:
    """Inside the block, `torch.cuda` answers as if `chip` were there; see `kengine.pretence.pretend`."""
    from kengine import pretence

    from kengine_triton.interpret.unsupported import refuse

    with pretence.pretend(figures_of(chip), poison, lenient, expose=_expose, refuse=refuse):
        yield


def figures_of(chip: Chip) -> Figures:
    """What host code may ask of a chip."""
    from kengine.pretence import Figures

    threads = 2048 if chip.warps == 64 or chip.is_amd else chip.warps * chip.warp_size
    return Figures(
        chip.arch, chip.name, chip.is_amd, chip.capability, chip.warp_size, chip.units, threads, chip.shared_block,
        chip.shared_unit, chip.memory,
    )  # fmt: skip


def _expose(tensor: Any) -> None:
    from kengine_triton.interpret.region import REGIONS

    REGIONS.expose(tensor)
