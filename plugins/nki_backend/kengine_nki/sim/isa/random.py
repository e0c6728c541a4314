"""Random instructions. The hardware's sequences are not public: only their distribution can be checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..access import assign, raw, values
from ..dtypes import U32
from ..errors import NkiError, check
from ..program import Program, current
from .common import count, free_size, pick_engine, same_layout, tile, vector


def reseed(program: Program, seeds: Any) -> None:
    """Restart the program's generator from the seed values."""
    numbers = np.asarray(seeds).reshape(-1).astype(np.int64) & 0xFFFFFFFF
    program.rng = np.random.default_rng([int(n) for n in numbers[:128]])


def rng(dst: Any, engine: Any = None) -> None:
    """dst = random bits, an integer type."""
    tile("rng", "dst", dst)
    if not dst.dtype.is_int:
        raise NkiError(f"rng dst must be an integer type, got {dst.dtype}")
    chosen = pick_engine("rng", engine, "vector", ("vector", "gpsimd"), dst)
    program = current()
    count(program, ("rng", chosen), free_size(dst))
    bits = program.rng.integers(0, 2**32, dst.shape, dtype=np.uint64).astype(f"u{dst.dtype.itemsize}")
    assign(dst, bits.view(dst.dtype.np))


def rand2(dst: Any, min: Any, max: Any) -> None:
    """dst = uniform numbers between min and max; trn3 and newer."""
    program = current()
    check(program.chip.generation >= 4, "rand2 is only supported for NeuronCore-v4 or newer")
    tile("rand2", "dst", dst)
    low, high = vector("rand2", "min", min, dst, dst.ndim), vector("rand2", "max", max, dst, dst.ndim)
    check(bool((np.asarray(low) < np.asarray(high)).all()), "rand2 requires min < max")
    count(program, ("rand2", "vector"), free_size(dst))
    assign(dst, (low + (high - low) * program.rng.random(dst.shape)).astype(np.float32))


def dropout(dst: Any, data: Any, prob: Any, mask: Any = None) -> None:
    """dst = data with each element zero with probability prob."""
    tile("dropout", "dst", dst)
    tile("dropout", "data", data)
    same_layout("dropout", "data", data, "dst", dst)
    if dst.dtype is not data.dtype:
        raise NkiError(f"dropout dst dtype must match data, got {dst.dtype} and {data.dtype}")
    program = current()
    count(program, ("dropout", "vector"), free_size(data))
    v = values(data, mask)
    drop = program.rng.random(v.shape) < vector("dropout", "prob", prob, data, v.ndim)
    assign(dst, np.where(drop, np.float32(0), v), mask=mask)


def set_rng_seed(src_seeds: Any) -> None:
    """Seed the vector engine's generator from a (1, 1) tile of 32 bits."""
    tile("set_rng_seed", "src_seeds", src_seeds)
    if not (src_seeds.size == 1 and src_seeds.dtype.itemsize == 4):
        raise NkiError(
            f"set_rng_seed src_seeds must be a (1, 1) tile of a 32-bit type, got {src_seeds.shape} {src_seeds.dtype}"
        )
    program = current()
    program.step(("set_rng_seed", "vector"), 64)
    reseed(program, np.ascontiguousarray(raw(src_seeds)).view(np.uint32))


def rand_set_state(src_seeds: Any, engine: Any = None) -> None:
    """Seed the generator from 6 (gpsimd) or 24 (vector) uint32 words a partition."""
    tile("rand_set_state", "src_seeds", src_seeds)
    if src_seeds.dtype is not U32:
        raise NkiError(f"rand_set_state src_seeds must be uint32, got {src_seeds.dtype}")
    chosen = pick_engine("rand_set_state", engine, "gpsimd", ("gpsimd", "vector"), src_seeds)
    words = 6 if chosen == "gpsimd" else 24
    if free_size(src_seeds) != words:
        raise NkiError(f"rand_set_state src_seeds must have {words} elements per partition, got {src_seeds.shape}")
    program = current()
    program.step(("rand_set_state", chosen), 64)
    reseed(program, raw(src_seeds))
