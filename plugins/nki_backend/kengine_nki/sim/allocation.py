"""Allocating tensors, with the limits on their shape and size."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from .access import assign
from .buffers import HBM, PSUM, SBUF, SHARED_HBM, MemoryRegion, Storage
from .dtypes import Array, DType, as_dtype
from .errors import BudgetExceeded, NkiError, Unsupported, caller_line
from .program import Program, current
from .tensor import NkiTensor, row_major

REGION_NAMES = {"sbuf": SBUF, "psum": PSUM, "hbm": HBM, "private_hbm": HBM, "shared_hbm": SHARED_HBM}


class ParDim(int):
    """`nl.par_dim(n)`: marks the partition dimension of an old-generation shape."""


def as_region(buffer: Any, program: Program) -> MemoryRegion:
    """The region meant by a `buffer` argument. NkiError for strings in the new generation and for anything else."""
    if buffer is None:
        return SBUF
    if isinstance(buffer, MemoryRegion):
        return buffer
    if program.generation == "old":
        region = getattr(buffer, "region", None) or REGION_NAMES.get(buffer if isinstance(buffer, str) else "")
        if region is not None:
            return region
    if isinstance(buffer, str):
        raise NkiError(f"buffer must be a memory region such as nl.sbuf, got the string {buffer!r}")
    raise NkiError(f"buffer must be one of nl.sbuf, nl.psum, nl.hbm, nl.shared_hbm, got {buffer!r}")


def as_shape(shape: Any) -> tuple[int, ...]:
    """A shape as positive ints. NkiError otherwise."""
    sizes = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
    if sizes and all([type(n) is int and n > 0 for n in sizes]):
        return sizes
    for size in sizes:
        if not isinstance(size, (int, np.integer)) and not hasattr(size, "__index__"):
            raise NkiError(f"shape must hold integers, got {shape!r}")
        if int(size) <= 0:
            raise NkiError(f"shape must hold positive sizes, got {tuple(int(s) for s in sizes)}")
    if not sizes:
        raise NkiError("shape must have at least one dimension")
    return sizes


def _check_size(
    program: Program, region: MemoryRegion, shape: tuple[int, ...], nbytes: int, per: int, par: int
) -> None:
    chip = program.chip
    if not region.on_chip:
        if nbytes > chip.hbm_bytes:
            raise NkiError(f"tensor of shape {shape} needs {nbytes} bytes, more than the {chip.hbm_bytes} of HBM")
        if nbytes > program.options.memory_limit:
            raise Unsupported(
                f"an array of {nbytes} bytes", f"the interpreter's limit is {program.options.memory_limit} bytes"
            )
        return
    if len(shape) < 2:
        raise NkiError(
            f"SBUF and PSUM tensors must have at least 2 dimensions (partition-dim and free-dim), got shape {shape}"
        )
    if shape[par] > chip.partitions:
        raise NkiError(
            f"number of partitions {shape[par]} exceed architecture limitation of {chip.partitions}: {region} tensor "
            f"of shape {shape}"
        )
    limit = chip.sbuf_bytes if region is SBUF else chip.psum_bytes
    if per > limit:
        raise NkiError(
            f"{region} tensor of shape {shape} needs {per} bytes per partition, more than the {limit} of {chip.name}"
        )


def allocate(
    shape: Any, dtype: Any, buffer: Any = None, name: str = "", program: Program | None = None, share: bool = True
) -> Any:
    """A new tensor, nothing written. shared_hbm tensors are one and the same in all programs of a launch."""
    program = program or current()
    program.count += 1
    if program.count > program.limit:
        raise BudgetExceeded(program.budget, program.budget, program.kernel)
    region, kind, sizes = as_region(buffer, program), as_dtype(dtype), as_shape(shape)
    par, dims = 0, sizes
    if program.generation == "old" or not all([type(n) is int for n in sizes]):
        par = next((i for i, n in enumerate(sizes) if isinstance(n, ParDim)), 0)
        dims = tuple([int(n) for n in sizes])
    nbytes = math.prod(dims) * kind.itemsize
    # Blocks before the partition dimension (old generation) are separate tiles to the compiler.
    per = math.prod(dims[par + 1 :]) * kind.itemsize if region.on_chip else 0
    _check_size(program, region, dims, nbytes, per, par)
    if not region.on_chip and share and len(program.launch.programs) > 1 and _is_shared(region, program):
        storage = program.launch.shared_storage(program, dims, kind, region, name)
    else:
        storage = Storage(nbytes, kind, region, per, name or "unnamed", program)
    if region.on_chip:
        storage.line = caller_line(sys._getframe(1))
    tensor: NkiTensor = program.launch.tensor_class(storage, kind, 0, dims, row_major(dims), par)
    return tensor


def _is_shared(region: MemoryRegion, program: Program) -> bool:
    return region is SHARED_HBM or program.generation == "old"


def new_tile(shape: tuple[int, ...], dtype: DType, region: MemoryRegion = SBUF) -> Any:
    """A tile for a result, at least 2-dimensional."""
    dims = tuple(shape) + (1,) * (2 - len(shape)) if region.on_chip else tuple(shape)
    return allocate(dims, dtype, region)


def tile_of(array: Array, dtype: DType, region: MemoryRegion = SBUF, valid: Array | None = None) -> Any:
    """A new tile holding `array`, cast to `dtype`."""
    tile = new_tile(array.shape, dtype, region)
    assign(tile, array, valid=valid)
    return tile
