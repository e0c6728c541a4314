"""Memory that kernels are given: which block an array lies in, and copies of such blocks in guarded memory.

A launch works on guarded copies, so that every access outside a block is noticed and a launch that is given up leaves
nothing behind. Only memory whose address host code has taken (`data_ptr()`, `data.ptr`) is used in place: kernels may
get that address by other ways than as an argument.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kengine.simt.runtime import Runtime

_ALIGNMENT = {False: 16, True: 256}
EXPOSED = "memory whose address was taken"
"""Its name in messages, where no parameter was given it."""
LARGEST_TABLE = 1 << 16
"""Bytes of an array of integers that may hold addresses."""


@dataclass(frozen=True)
class Block:
    """One allocation: addresses [base, base + nbytes). keep: what holds it alive. itemsize: of an array in it."""

    base: int
    nbytes: int
    itemsize: int
    keep: Any

    def holds(self, address: int) -> bool:
        """Whether an address lies in the block; that of its end does too, for arrays without elements."""
        return self.base <= address <= self.base + self.nbytes


@dataclass(frozen=True)
class Place:
    """An array in memory: the block that it lies in, the address of its first element, and its dtype's name."""

    block: Block
    address: int
    dtype: str


def find_place(value: Any) -> Place | None:
    """Where an array lies; None for what is no array. torch tensors and numpy arrays."""
    import sys

    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        with torch._C.DisableTorchFunction():
            storage = value.untyped_storage()
            block = Block(int(storage.data_ptr()), int(storage.nbytes()), int(value.element_size()), value)
            return Place(block, int(value.data_ptr()), str(value.dtype).removeprefix("torch."))
    import numpy as np

    if isinstance(value, np.ndarray) and value.dtype.kind != "O":
        root: Any = value
        while isinstance(root.base, np.ndarray):
            root = root.base
        if torch is not None and isinstance(root.base, torch.Tensor):
            owner = find_place(root.base)
            assert owner is not None
            return Place(owner.block, int(value.ctypes.data), value.dtype.name)
        low, high = _span(root)
        return Place(Block(low, high - low, int(value.itemsize), value), int(value.ctypes.data), value.dtype.name)
    return None


def _span(array: Any) -> tuple[int, int]:
    low = high = int(array.ctypes.data)
    if not array.size:
        return low, low
    for length, stride in zip(array.shape, array.strides):
        if stride < 0:
            low += (length - 1) * stride
        else:
            high += (length - 1) * stride
    return low, high + int(array.itemsize)


class Exposed:
    """Blocks whose address host code has taken, kept alive."""

    def __init__(self) -> None:
        self._blocks: dict[int, Block] = {}

    def add(self, value: Any) -> None:
        """Take note of an array's block."""
        place = find_place(value)
        if place is not None and place.block.nbytes and not self.has(place.block):
            self._blocks[place.block.base] = place.block

    def find(self, address: int) -> Block | None:
        """The block that an address lies in."""
        return next((b for b in self._blocks.values() if b.holds(address)), None)

    def has(self, block: Block) -> bool:
        """Whether a block is an exposed one, or a part of one."""
        end = block.base + block.nbytes
        return any(b.base <= block.base and end <= b.base + b.nbytes for b in self._blocks.values())

    def all(self) -> list[Block]:
        """Every block."""
        return list(self._blocks.values())

    def forget_under(self, values: Iterable[Any]) -> None:
        """Forget blocks whose memory has been given out anew, as that of inputs is for each call."""
        for value in values:
            place = find_place(value)
            if place is None:
                continue
            end = place.block.base + place.block.nbytes
            for other in self.all():
                if other.base < end and place.block.base < other.base + other.nbytes:
                    del self._blocks[other.base]


def read_table(base: int, nbytes: int) -> list[int]:
    """The numbers in memory that may be addresses of host memory; [] where it is too large for a table of them."""
    if not 0 < nbytes <= LARGEST_TABLE:
        return []
    table = ctypes.string_at(base, nbytes & ~7)
    return [word for word in struct.unpack(f"<{len(table) // 8}Q", table) if 1 << 16 <= word < 1 << 48]


def find_arguments(values: Iterable[Any], exposed: Exposed) -> list[Any]:
    """What a kernel gets at by its arguments: arrays, and blocks whose addresses it is given as numbers.

    The numbers may be arguments themselves or elements of an array of 64-bit integers.
    """
    found: list[Any] = []
    numbers: list[int] = []
    for value in values:
        place = find_place(value)
        if place is not None:
            found.append(value)
            if place.dtype in ("int64", "uint64"):
                numbers += read_table(place.block.base, place.block.nbytes)
        elif isinstance(value, int) or getattr(getattr(value, "dtype", None), "kind", "") in "iu":
            numbers.append(int(value))
    blocks = {block.base: block for number in numbers if (block := exposed.find(number)) is not None}
    return [*found, *((block.base, block.nbytes) for block in blocks.values())]


class Staging:
    """The memory of one launch: copies made by `address`, brought back by `finish(True)`, forgotten by `finish(False)`.

    Blocks used in place are saved first and put back by `finish(False)`.
    """

    def __init__(self, runtime: Runtime, exposed: Exposed, check: bool) -> None:
        self._runtime = runtime
        self._exposed = exposed
        self._check = check
        self._copies: dict[int, tuple[int, Block]] = {}
        self._saved: dict[int, bytes] = {}
        for block in exposed.all():
            runtime.register(EXPOSED, block.base, block.nbytes, block.itemsize)
            if check:
                self._saved[block.base] = ctypes.string_at(block.base, block.nbytes)

    def address(self, place: Place, name: str) -> int:
        """The address that a kernel gets for an array: inside a guarded copy of its block, named for messages."""
        block = place.block
        if self._exposed.has(block):
            return self.raw(place.address, name)
        if not block.nbytes:
            return 0
        if block.base not in self._copies:
            skew = block.base % 16
            made = self._runtime.allocate(block.nbytes, block.itemsize, _ALIGNMENT[self._check], skew, name)
            ctypes.memmove(made, block.base, block.nbytes)
            self._copies[block.base] = made, block
        return self._copies[block.base][0] + place.address - block.base

    def copies(self) -> list[tuple[int, int, int]]:
        """Address of each copy, of the block that it stands for, and their size in bytes."""
        return [(made, block.base, block.nbytes) for made, block in self._copies.values()]

    def raw(self, address: int, name: str) -> int:
        """An address that the candidate passes as a number; a block that was exposed gets the parameter's name."""
        block = self._exposed.find(address)
        if block is not None:
            self._runtime.register(name, block.base, block.nbytes, block.itemsize)
        return address

    def finish(self, keep: bool) -> None:
        """End the launch: with `keep` the caller's arrays get what was written, else they stay as they were."""
        for made, block in self._copies.values():
            if keep:
                ctypes.memmove(block.base, made, block.nbytes)
            self._runtime.free(made)
        self._copies.clear()
        for block in self._exposed.all():
            if not keep and block.base in self._saved:
                ctypes.memmove(block.base, self._saved[block.base], block.nbytes)
            self._runtime.forget(block.base)
        self._saved.clear()
