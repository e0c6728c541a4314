"""Sizes of the NeuronCore generations that the checks use."""

from __future__ import annotations

from dataclasses import dataclass

KIB, GIB = 1024, 1024**3


@dataclass(frozen=True)
class Chip:
    """One generation: partition counts in rows, memories in bytes per partition, HBM in bytes for a core."""

    name: str
    generation: int
    sbuf_bytes: int
    hbm_bytes: int
    moving_max: int = 512
    moving_max_16bit: int = 512
    partitions: int = 128
    psum_bytes: int = 16 * KIB
    psum_bank_bytes: int = 2 * KIB
    stationary_max: int = 128
    bn_stats_max: int = 512
    search_max: int = 16384


CHIPS = {
    "trn1": Chip("trn1", 2, 192 * KIB, 16 * GIB),
    "trn2": Chip("trn2", 3, 224 * KIB, 24 * GIB),
    "trn3": Chip("trn3", 4, 256 * KIB, 36 * GIB, moving_max=4096, moving_max_16bit=8192),
}
ALIASES = {"inf2": "trn1", "gen2": "trn1", "gen3": "trn2", "gen4": "trn3"}


def find_chip(name: str) -> Chip:
    """The chip called `name` (trn1, inf2, trn2, trn3, gen2, gen3, gen4). ValueError for another name."""
    try:
        return CHIPS[ALIASES.get(name, name)]
    except KeyError:
        raise ValueError(f"unknown chip {name!r}: expected one of {sorted([*CHIPS, *ALIASES])}") from None
