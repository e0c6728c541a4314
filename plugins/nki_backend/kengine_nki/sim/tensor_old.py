"""The tensor of the old generation: operators, casts, index grids."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import views
from .access import assign, copy, values
from .allocation import new_tile
from .dtypes import as_dtype
from .errors import NkiError
from .grid_indexing import index_old
from .ops import OPS, Op
from .program import current
from .tensor import NkiTensor


class OldTensor(NkiTensor):
    """A tensor as kernels of `neuronxcc.nki` see it."""

    __slots__ = ()

    def __getitem__(self, key: Any) -> Any:
        return index_old(self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        target = index_old(self, key)
        program = current()
        if isinstance(value, PendingReduction):
            value.store(target)
        elif isinstance(value, NkiTensor):
            same = value.storage is target.storage and value.offset == target.offset and value.shape == target.shape
            if same and value.strides == target.strides and value.gather is None:
                return
            if not (_fits(value.shape, target.shape) or value.size == target.size):
                raise NkiError(f"cannot assign a tile of shape {value.shape} to {target.shape} of tensor `{self.name}`")
            program.step(("assignment", "vector"), 64)
            copy(target, value, value.storage.uniform if value.storage.uniform > 0 else 2)
        elif isinstance(value, (int, float, np.number)):
            program.step(("assignment", "vector"), 64)
            assign(target, np.asarray(value, np.float32))
        else:
            raise NkiError(f"cannot assign {type(value).__name__} to tensor `{self.name}`: expected a tile or a number")

    def reshape(self, *shape: Any) -> Any:
        sizes = tuple(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else shape
        sizes = views.infer(sizes, self.size)
        if int(np.prod(sizes)) != self.size:
            raise NkiError(f"reshape requires the same number of elements, got {self.shape} -> {sizes}")
        strides = views.merged_strides(self.shape, self.strides, sizes) if self.gather is None else None
        if strides is None:
            raise NkiError(f"reshape {self.shape} -> {sizes} is not possible without a copy")
        return self.make(self.offset, sizes, strides)

    def astype(self, dtype: Any) -> Any:
        """A new tile with the elements cast."""
        current().step(("astype", "vector"), 64)
        tile = new_tile(self.shape, as_dtype(dtype))
        copy(tile, self)
        return tile

    def view(self, dtype: Any) -> Any:
        return views.view_as(self, dtype)

    def broadcast_to(self, *shape: Any) -> Any:
        sizes = tuple(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else shape
        return broadcast_view(self, sizes)

    def expand_dims(self, axis: Any) -> Any:
        view: Any = self
        for at in sorted(a % (self.ndim + 1) for a in ((axis,) if isinstance(axis, int) else axis)):
            view = view.make(
                view.offset, (*view.shape[:at], 1, *view.shape[at:]), (*view.strides[:at], 1, *view.strides[at:])
            )
        return view

    def assert_shape(self, shape: Any) -> Any:
        if tuple(shape) != self.shape:
            raise NkiError(f"tensor `{self.name}` has shape {self.shape}, annotated as {tuple(shape)}")
        return self

    def ap(self, *args: Any, **kwargs: Any) -> Any:
        raise NkiError("'tensor' object has no attribute 'ap' in neuronxcc.nki")


def _fits(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    padded = (1,) * (len(target) - len(shape)) + shape
    return len(padded) == len(target) and all(a in (1, b) for a, b in zip(padded, target))


def broadcast_view(tensor: NkiTensor, shape: tuple[int, ...]) -> Any:
    """View of `tensor` broadcast to `shape` by numpy's rules. NkiError if they do not fit."""
    shape = tuple(int(n) for n in shape)
    if not _fits(tensor.shape, shape):
        raise NkiError(f"cannot broadcast shape {tensor.shape} to {shape}")
    extra = len(shape) - tensor.ndim
    old = (1,) * extra + tensor.shape
    steps = (0,) * extra + tensor.strides
    if tensor.gather is not None:
        raise NkiError("an indirect view cannot be broadcast")
    return tensor.make(tensor.offset, shape, tuple(0 if a != b else s for a, b, s in zip(old, shape, steps)))


class PendingReduction(NkiTensor):
    """Result of nl.loop_reduce: accumulates into whatever it is assigned to, starting anew in the first iteration."""

    __slots__ = ("first", "op")

    first: bool
    op: Op

    def store(self, target: NkiTensor) -> None:
        mine = values(self)
        if not self.first:
            mine = self.op.fn(values(target), mine.reshape(target.shape))
        assign(target, mine)


def _binary(name: str, reflected: bool) -> Any:
    def method(self: Any, other: Any) -> Any:
        from .isa.language import binary

        if not isinstance(other, (NkiTensor, int, float, np.number)):
            return NotImplemented
        return binary(OPS[name], other, self) if reflected else binary(OPS[name], self, other)

    return method


def _in_place(name: str) -> Any:
    def method(self: Any, other: Any) -> Any:
        from .isa.language import accumulate

        return accumulate(OPS[name], self, other)

    return method


for _dunder, _name in {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "pow": "power", "mod": "mod",
    "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor", "lshift": "left_shift", "rshift": "right_shift",
}.items():  # fmt: skip
    setattr(OldTensor, f"__{_dunder}__", _binary(_name, False))
    setattr(OldTensor, f"__r{_dunder}__", _binary(_name, True))
    setattr(OldTensor, f"__i{_dunder}__", _in_place(_name))
for _dunder, _name in {
    "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal", "ne": "not_equal",
}.items():  # fmt: skip
    setattr(OldTensor, f"__{_dunder}__", _binary(_name, False))


def _unary(name: str) -> Any:
    def method(self: Any) -> Any:
        from .isa.language import unary

        return unary(OPS[name], self)

    return method


setattr(OldTensor, "__neg__", _unary("negative"))  # noqa: B010
setattr(OldTensor, "__invert__", _unary("invert"))  # noqa: B010
setattr(OldTensor, "__abs__", _unary("abs"))  # noqa: B010
OldTensor.__name__ = OldTensor.__qualname__ = "tensor"
