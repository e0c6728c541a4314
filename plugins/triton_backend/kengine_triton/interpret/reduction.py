"""Reductions and scans, written anew: in the element's own precision, in logarithmic depth, NaN as on a chip.

Triton's interpreter sums float16 in float32 (which hides the error of a float16 accumulator), bfloat16 as integers,
and calls a combine function once for each element. Here a tree of halves is combined a level at a time, every level
rounded to the element's type; a chip's tree has another shape but the same depth, hence the same size of error.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kengine_triton.interpret.handles import make, narrow_type, store, values


def install() -> None:
    """Replace the classes that `tl.reduce` and `tl.associative_scan` are interpreted by."""
    from triton.runtime import interpreter

    interpreter.ReduceOps = Reduction
    interpreter.ScanOps = Scan


def _plain(value: Any) -> Any:
    return getattr(value, "value", value)


def _standard(*names: str) -> tuple[Any, ...]:
    import triton.language as tl

    return tuple(getattr(tl.standard, name, None) for name in names)


def _one_of(function: Any, *names: str) -> bool:
    return any(function is known for known in _standard(*names) if known is not None)


def _tensor(data: Any, dtype: Any) -> Any:
    """A tensor around raw data of a Triton element type."""
    import triton.language as tl

    if data.shape:
        return tl.tensor(make(data, dtype.scalar), tl.block_type(dtype.scalar, list(data.shape)))
    return tl.tensor(make(data.reshape(1), dtype.scalar), dtype.scalar)


def _encode(numbers: Any, dtype: Any) -> Any:
    """Raw data of an element type from numbers."""
    from triton.runtime.interpreter import _get_np_dtype

    if narrow_type(dtype):
        return store(np.asarray(numbers, np.float32), dtype.scalar).data
    return np.asarray(numbers).astype(_get_np_dtype(dtype.scalar))


class _Operation:
    """What a reduction and a scan share: the axis, the operands, and calling the combine function on whole blocks."""

    def __init__(self, axis: Any, combine_fn: Any) -> None:
        self.axis = _plain(axis)
        self.combine_fn = combine_fn

    def apply(self, input: Any) -> Any:
        single = not isinstance(input, tuple)
        operands = (input,) if single else input
        shape = operands[0].shape
        if self.axis is not None and not -len(shape) <= self.axis < len(shape):
            raise ValueError(f"axis {self.axis} out of bounds for shape {[_plain(n) for n in shape]}")
        results = self.compute(operands)
        return results[0] if single else tuple(results)

    def compute(self, operands: tuple[Any, ...]) -> list[Any]:
        raise NotImplementedError

    def combine(self, left: list[Any], right: list[Any], dtypes: list[Any]) -> list[Any]:
        """Apply the combine function to raw data of both sides, elementwise."""
        lhs = [_tensor(data, dtype) for data, dtype in zip(left, dtypes)]
        rhs = [_tensor(data, dtype) for data, dtype in zip(right, dtypes)]
        function = getattr(self.combine_fn, "fn", self.combine_fn)
        if hasattr(self.combine_fn, "rewrite"):
            function = self.combine_fn.rewrite()
        result = function(*lhs, *rhs)
        result = result if isinstance(result, tuple) else (result,)
        shape = left[0].shape
        return [np.broadcast_to(_raw(x, dtype), shape) for x, dtype in zip(result, dtypes)]


def _raw(value: Any, dtype: Any) -> Any:
    if not hasattr(value, "handle"):
        return _encode(np.array(value), dtype)
    data = value.handle.data
    if value.dtype.scalar == dtype.scalar:
        return data
    return _encode(values(value.handle), dtype)


class Reduction(_Operation):
    """`tl.reduce`: one value for each line along the axis (all axes when it is None)."""

    def __init__(self, axis: Any, combine_fn: Any, keep_dims: Any = False) -> None:
        super().__init__(axis, combine_fn)
        self.keep_dims = bool(_plain(keep_dims))

    def compute(self, operands: tuple[Any, ...]) -> list[Any]:
        dtypes = [x.dtype.scalar for x in operands]
        shape = operands[0].handle.data.shape
        axis = 0 if self.axis is None else self.axis % len(shape)
        data = [x.handle.data.reshape(-1) if self.axis is None else x.handle.data for x in operands]
        combine = self.combine_fn
        if _one_of(combine, "_sum_combine"):
            results = [self._sum(data[0], axis, dtypes[0])]
        elif _one_of(combine, "_elementwise_max", "_elementwise_min"):
            pick = np.fmax.reduce if _one_of(combine, "_elementwise_max") else np.fmin.reduce
            numbers = pick(values(make(data[0], dtypes[0])), axis=axis)
            results = [_encode(numbers, dtypes[0])]
        elif _one_of(combine, "_argmax_combine_tie_break_left", "_argmax_combine_tie_break_fast"):
            results = self._extreme(data, axis, dtypes, np.argmax, -np.inf)
        elif _one_of(combine, "_argmin_combine_tie_break_left", "_argmin_combine_tie_break_fast"):
            results = self._extreme(data, axis, dtypes, np.argmin, np.inf)
        else:
            results = self._tree(data, axis, dtypes)
        if self.keep_dims:
            full = (1,) * len(shape) if self.axis is None else (*shape[:axis], 1, *shape[axis + 1 :])
            results = [np.asarray(r).reshape(full) for r in results]
        return [_tensor(np.asarray(r), dtype) for r, dtype in zip(results, dtypes)]

    def _sum(self, data: Any, axis: int, dtype: Any) -> Any:
        if dtype.is_floating() and dtype.primitive_bitwidth < 32:
            return _halve([data], axis, lambda a, b: [_add(a[0], b[0], dtype)])[0]
        return _encode(np.sum(data, axis=axis), dtype)

    def _extreme(self, data: list[Any], axis: int, dtypes: list[Any], find: Any, worst: float) -> list[Any]:
        numbers = values(make(data[0], dtypes[0]))
        keys = np.where(np.isnan(numbers), worst, numbers) if numbers.dtype.kind == "f" else numbers
        where = np.expand_dims(find(keys, axis=axis), axis)
        return [np.take_along_axis(part, where, axis=axis).squeeze(axis) for part in data]

    def _tree(self, data: list[Any], axis: int, dtypes: list[Any]) -> list[Any]:
        return _halve(data, axis, lambda a, b: self.combine(a, b, dtypes))


def _add(a: Any, b: Any, dtype: Any) -> Any:
    return _encode(values(make(a, dtype)) + values(make(b, dtype)), dtype)


def _halve(data: list[Any], axis: int, combine: Callable[[list[Any], list[Any]], list[Any]]) -> list[Any]:
    """Combine neighbours (so that order is kept) until one is left along the axis."""
    parts = [np.moveaxis(part, axis, -1) for part in data]
    while parts[0].shape[-1] > 1:
        if parts[0].shape[-1] % 2:
            raise ValueError(f"a block of {parts[0].shape[-1]} elements is reduced; a block's sizes are powers of two")
        left = [np.ascontiguousarray(part[..., 0::2]) for part in parts]
        right = [np.ascontiguousarray(part[..., 1::2]) for part in parts]
        parts = combine(left, right)
    return [part[..., 0] for part in parts]


class Scan(_Operation):
    """`tl.associative_scan`: inclusive, along one axis, in either direction."""

    def __init__(self, axis: Any, combine_fn: Any, reverse: Any = False) -> None:
        super().__init__(axis, combine_fn)
        self.reverse = bool(_plain(reverse))

    def compute(self, operands: tuple[Any, ...]) -> list[Any]:
        dtypes = [x.dtype.scalar for x in operands]
        axis = self.axis % len(operands[0].handle.data.shape)
        parts = [np.moveaxis(x.handle.data, axis, -1) for x in operands]
        if self.reverse:
            parts = [part[..., ::-1] for part in parts]
        parts = self._scan([np.ascontiguousarray(part) for part in parts], dtypes)
        if self.reverse:
            parts = [part[..., ::-1] for part in parts]
        return [_tensor(np.ascontiguousarray(np.moveaxis(part, -1, axis)), dtype) for part, dtype in zip(parts, dtypes)]

    def _scan(self, parts: list[Any], dtypes: list[Any]) -> list[Any]:
        fast = {"_sum_combine": np.cumsum, "_prod_combine": np.cumprod}
        wide = not dtypes[0].is_floating() or dtypes[0].primitive_bitwidth >= 32
        for name, function in fast.items():
            if wide and _one_of(self.combine_fn, name):
                return [_encode(function(parts[0], axis=-1), dtypes[0])]
        length = parts[0].shape[-1]
        place = np.arange(length)
        step = 1
        while step < length:
            # Every element takes in the prefix that ends `step` before it (Hillis and Steele, 1986).
            before = [np.roll(part, step, axis=-1) for part in parts]
            joined = self.combine(before, parts, dtypes)
            parts = [np.where(place >= step, new, old) for new, old in zip(joined, parts)]
            step *= 2
        return parts
