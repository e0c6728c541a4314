"""Memory regions, and the storage behind tensors with what was written to it."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from .dtypes import Array, DType
from .program import Program

NONE, MATMUL, OTHER, MIXED = 0, 1, 2, -1


class MemoryRegion:
    """A memory: sbuf, psum, private_hbm or shared_hbm."""

    sbuf: MemoryRegion
    psum: MemoryRegion
    private_hbm: MemoryRegion
    shared_hbm: MemoryRegion

    __slots__ = ("name", "on_chip")

    def __init__(self, name: str, on_chip: bool) -> None:
        self.name, self.on_chip = name, on_chip

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"MemoryRegion.{self.name}"


SBUF = MemoryRegion.sbuf = MemoryRegion("sbuf", True)
PSUM = MemoryRegion.psum = MemoryRegion("psum", True)
HBM = MemoryRegion.private_hbm = MemoryRegion("private_hbm", False)
SHARED_HBM = MemoryRegion.shared_hbm = MemoryRegion("shared_hbm", False)

# Freed on-chip buffers by size: fresh pages cost more than most instructions.
_POOL: dict[int, list[Array]] = {}
_POOL_DEPTH = 16
_POOL_LARGEST = 32 << 20


class Storage:
    """Bytes of one allocation and a tag for each element: 0 never written, 1 by a matmul, 2 by anything else.

    `uniform` is the tag shared by all elements, or -1 when `tags` (one byte an element of `unit` bytes) holds them.
    Poison (NaN, or 4 for integers) is filled in only when something may see it.
    """

    __slots__ = (
        "__weakref__",
        "bytes",
        "dirty",
        "dtype",
        "filled",
        "first",
        "immutable",
        "last",
        "line",
        "name",
        "per_partition",
        "program",
        "region",
        "tags",
        "tracked",
        "uniform",
        "unit",
    )  # fmt: skip

    def __init__(
        self, nbytes: int, dtype: DType, region: MemoryRegion, per_partition: int, name: str, program: Program | None
    ) -> None:
        pool = _POOL.get(nbytes) if region.on_chip else None
        self.bytes: Array = pool.pop() if pool else np.empty(nbytes, np.uint8)
        self.dtype, self.region, self.name, self.per_partition = dtype, region, name, per_partition
        self.unit, self.uniform, self.filled, self.dirty = dtype.itemsize, NONE, False, False
        self.tags: Array | None = None
        self.tracked = program is None or program.strict or dtype.kind != "f" or region is not SBUF
        self.first = self.last = 0
        self.immutable: str | None = None
        self.line: tuple[str, int] | None = None
        self.program = program

    def adopt(self, array: Array) -> None:
        """Use the bytes of a contiguous array, all of them written."""
        self.bytes = array.reshape(-1).view(np.uint8)
        self.uniform, self.filled = OTHER, True

    def poison(self) -> None:
        """Fill memory that nobody wrote."""
        flat = self.bytes.view(self.dtype.np)
        flat[...] = np.nan if self.dtype.kind == "f" else 4
        self.filled = True

    def refine(self, unit: int) -> None:
        """Keep tags for elements of `unit` bytes, fewer than now."""
        if self.tags is not None:
            self.tags = np.repeat(self.tags, self.unit // unit)
        self.unit = unit

    def materialize(self) -> Array:
        """The tag of each element as a writable array."""
        if self.uniform == NONE and not self.filled:
            self.poison()
        if self.tags is None or self.uniform != MIXED:
            value = OTHER if self.uniform == MIXED else self.uniform
            self.tags = np.full(self.bytes.size // self.unit, value, np.uint8)
            self.uniform = MIXED
        return self.tags

    def all_written(self) -> bool:
        """Whether every element was written; settles the uniform tag if so."""
        if self.uniform == MIXED and self.tags is not None:
            if not self.tags.all():
                return False
            lowest = int(self.tags.min())
            if lowest == int(self.tags.max()):
                self.uniform = lowest
        return self.uniform != NONE

    def interval(self) -> None:
        """Log when this memory was in use, for the capacity check at the end of the program."""
        if self.program is not None and self.last:
            entry = (self.region.name, self.first, self.last, self.per_partition, self.line)
            self.program.intervals.append(entry)
            self.program = None

    def __del__(self) -> None:
        if self.region.on_chip:
            self.interval()
            data = self.bytes
            if sys is None:  # the interpreter is shutting down
                return
            if data.size <= _POOL_LARGEST and sys.getrefcount(data) <= 3:
                pool = _POOL.setdefault(data.size, [])
                if len(pool) < _POOL_DEPTH:
                    pool.append(data)


def view_array(data: Array, dtype: Any, offset: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> Array:
    """A strided numpy view of flat bytes; offset and strides in elements of `dtype`."""
    size = dtype.itemsize
    return np.ndarray(shape, dtype, data, offset * size, tuple([s * size for s in strides]))
