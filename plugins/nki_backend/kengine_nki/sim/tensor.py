"""Tensors: a shape and strides over a storage. Every view is made in constant time."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .buffers import MIXED, NONE, MemoryRegion, Storage
from .dtypes import Array, DType
from .errors import NkiError
from .program import state

if TYPE_CHECKING:
    from collections.abc import Iterable


def row_major(shape: Iterable[int]) -> tuple[int, ...]:
    """Element strides of a contiguous array."""
    strides, step = [], 1
    for size in reversed(tuple(shape)):
        strides.append(step)
        step *= size
    return tuple(reversed(strides))


class Gather:
    """Elements picked one by one: flat element numbers, which of them are inside the tensor, and what is wrong if not.

    `masked` gathers stem from affine indices that leave the tensor: legal only where a mask hides the excess.
    """

    __slots__ = ("flat", "inside", "masked", "problem")

    def __init__(self, flat: Array, inside: Array | None, problem: str, masked: bool) -> None:
        self.flat, self.inside, self.problem, self.masked = flat, inside, problem, masked


class NkiTensor:
    """A tensor or tile. offset and strides count elements of `dtype`; `par` is the axis of the partitions."""

    __slots__ = ("_array", "dtype", "gather", "irregular", "name", "offset", "par", "shape", "storage", "strides")

    def __init__(
        self,
        storage: Storage,
        dtype: DType,
        offset: int,
        shape: tuple[int, ...],
        strides: tuple[int, ...],
        par: int = 0,
        gather: Gather | None = None,
        irregular: bool = False,
    ) -> None:
        self.storage, self.dtype, self.offset, self.shape, self.strides = storage, dtype, offset, shape, strides
        self.par, self.gather, self.irregular = par, gather, irregular
        self.name = storage.name
        self._array: Array | None = None

    def make(
        self,
        offset: int,
        shape: tuple[int, ...],
        strides: tuple[int, ...],
        par: int | None = None,
        gather: Gather | None = None,
    ) -> Any:
        """Another view of the same storage, of the same class."""
        return type(self)(
            self.storage, self.dtype, offset, shape, strides, self.par if par is None else par, gather, self.irregular
        )

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return int(math.prod(self.shape))

    @property
    def buffer(self) -> MemoryRegion:
        return self.storage.region

    @property
    def on_chip(self) -> bool:
        return self.storage.region.on_chip

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    def array(self) -> Array:
        """The live numpy view of a tensor without a gather, poison filled in where nothing was written."""
        storage = self.storage
        if storage.uniform == NONE and not storage.filled:
            storage.poison()
        view = self._array
        if view is None:
            size = self.dtype.itemsize
            view = self._array = np.ndarray(
                self.shape, self.dtype.np, storage.bytes, self.offset * size, tuple([s * size for s in self.strides])
            )
        return view

    def tag_array(self) -> Array:
        """The tags of the elements, shaped like the tensor (live unless the item size grew by a view)."""
        storage, size = self.storage, self.dtype.itemsize
        if size < storage.unit:
            storage.refine(size)
        tags = storage.materialize()
        per = size // storage.unit
        if per == 1:
            return np.ndarray(self.shape, np.uint8, tags, self.offset, self.strides)
        wide = (*self.strides, 1 / per)
        return np.ndarray((*self.shape, per), np.uint8, tags, self.offset * per, tuple(int(s * per) for s in wide))

    def covers_storage(self) -> bool:
        """Whether a write through this view writes every element of the storage."""
        return (
            not self.irregular
            and self.gather is None
            and self.size * self.dtype.itemsize == self.storage.bytes.size
            and 0 not in self.strides
        )

    def mark(self, tag: int) -> None:
        """Note a coming write of all elements of this view. Fills poison around a first partial write."""
        storage = self.storage
        if storage.immutable is not None:
            raise NkiError(f"Cannot update immutable parameter `{storage.immutable}`")
        program = state.program
        if program is not None:
            storage.last = program.count
            if not storage.first:
                storage.first = program.count
        storage.dirty = True
        if storage.uniform == tag:
            return
        if self.covers_storage():
            storage.uniform = tag
            return
        if not storage.filled:
            if storage.uniform == NONE:
                storage.poison()
            storage.filled = True
        if storage.tracked:
            self.tag_array()[...] = tag
        elif storage.uniform == NONE:
            storage.uniform = MIXED

    def __repr__(self) -> str:
        return f"NkiTensor(shape={self.shape}, dtype={self.dtype}, buffer={self.buffer}, name={self.name!r})"

    def __bool__(self) -> bool:
        raise NkiError("the truth value of a tensor is ambiguous: control flow cannot depend on data in a tensor")

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise NkiError("numpy cannot read an NKI tensor inside a kernel: use nki.language or nki.isa functions")

    __array_ufunc__ = None
    __iter__ = None

    def __len__(self) -> int:
        return self.shape[0]
