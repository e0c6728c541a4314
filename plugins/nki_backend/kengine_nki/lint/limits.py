"""Sizes of the NeuronCore generations that rules know; a test compares them with the interpreter's."""

from __future__ import annotations

from dataclasses import dataclass

from kengine.model import Target

PARTITIONS = 128
STATIONARY = 128
PSUM_BYTES = 16 * 1024
PSUM_BANK_BYTES = 2 * 1024
BN_STATS = 512
SEARCH = (8, 16384)
TILE_SIZE = {
    "pmax": 128, "psum_fmax": 512, "psum_bank_fmax": 512, "psum_bank_fmax_bytes": 2048, "psum_num_banks": 8,
    "gemm_stationary_fmax": 128, "gemm_moving_fmax": 512, "bn_stats_fmax": 512, "psum_min_align": 4,
    "sbuf_min_align": 1,
}  # fmt: skip
"""Members of nl.tile_size that are the same on every chip."""

ITEM_BYTES = {
    "float32": 4, "tfloat32": 4, "int32": 4, "uint32": 4, "bfloat16": 2, "float16": 2, "int16": 2, "uint16": 2,
    "int8": 1, "uint8": 1, "bool_": 1, "float8_e4m3": 1, "float8_e4m3fn": 1, "float8_e5m2": 1, "float8_e8m0fnu": 1,
    "float8_e5m2_x4": 4, "float8_e4m3fn_x4": 4, "float4_e2m1fn_x4": 2,
}  # fmt: skip


@dataclass(frozen=True)
class Chip:
    """One chip: SBUF bytes of a partition, most columns of a matmul's moving operand (32-bit and narrower results)."""

    name: str
    generation: int
    sbuf_bytes: int
    moving: int
    moving_narrow: int


CHIPS = {
    "trn1": Chip("trn1", 2, 192 * 1024, 512, 512),
    "trn2": Chip("trn2", 3, 224 * 1024, 512, 512),
    "trn3": Chip("trn3", 4, 256 * 1024, 4096, 8192),
}


def chip_of(target: Target) -> Chip:
    """The chip of a target; trn2 where the target names none (`nki:sim`)."""
    return CHIPS.get(target.arch, CHIPS["trn2"])
