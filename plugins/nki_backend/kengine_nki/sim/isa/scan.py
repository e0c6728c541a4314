"""Prefix scans along the free axis, without a Python step for each element where the operators allow."""

from __future__ import annotations

import numpy as np

from ..dtypes import Array
from ..ops import Op


def scan(a: Array, b: Array, start: Array, op0: Op, op1: Op, reverse0: bool, reverse1: bool) -> Array:
    """r[:, i] = op1(op0(a[:, i], r[:, i-1]), b[:, i]) with r[:, -1] = start; arrays (P, N), start (P, 1), float32."""
    names = (op0.name, op1.name)
    if names == ("multiply", "add") or (names == ("multiply", "subtract") and not reverse1):
        result = linear(a, b if op1.name == "add" else -b, start)
        if np.isfinite(result).all():
            return result.astype(np.float32)
    elif names == ("add", "add"):
        return (np.cumsum(a.astype(np.float64) + b, axis=1) + start).astype(np.float32)
    elif names == ("add", "subtract") and not reverse1:
        return (np.cumsum(a.astype(np.float64) - b, axis=1) + start).astype(np.float32)
    elif names in (("maximum", "maximum"), ("minimum", "minimum")):
        both = op0.fn(a, b)
        both[:, :1] = op0.fn(both[:, :1], start)
        best: Array = op0.fn.accumulate(both, axis=1)  # type: ignore[attr-defined]
        return best
    return stepwise(a, b, start, op0, op1, reverse0, reverse1)


def stepwise(a: Array, b: Array, start: Array, op0: Op, op1: Op, reverse0: bool, reverse1: bool) -> Array:
    """The scan one column at a time, over contiguous columns."""
    left, right = np.ascontiguousarray(a.T), np.ascontiguousarray(b.T)
    result = np.empty(left.shape, np.float32)
    carry = start.reshape(-1).astype(np.float32)
    first, second = op0.fn, op1.fn
    for i in range(left.shape[0]):
        x, y = left[i], right[i]
        inner = first(carry, x) if reverse0 else first(x, carry)
        if inner.dtype != np.float32:
            inner = inner.astype(np.float32)
        result[i] = second(y, inner) if reverse1 else second(inner, y)
        carry = result[i]
    return np.ascontiguousarray(result.T)


def linear(a: Array, b: Array, start: Array) -> Array:
    """r[:, i] = a[:, i] * r[:, i-1] + b[:, i] in float64, by blocks: within all blocks at once, then across blocks.

    A block maps its incoming value c to A*c + B; both prefix products A and offsets B need only one step for each
    position within a block.
    """
    rows, n = a.shape
    width = max(1, int(np.sqrt(n)))
    blocks = -(-n // width)
    padded = np.zeros((width, rows, blocks)), np.zeros((width, rows, blocks))
    for target, source, fill in ((padded[0], a, 1.0), (padded[1], b, 0.0)):
        whole = np.full((rows, blocks * width), fill)
        whole[:, :n] = source
        target[...] = whole.reshape(rows, blocks, width).transpose(2, 0, 1)
    gain, offset = padded
    for i in range(1, width):
        offset[i] += gain[i] * offset[i - 1]
        gain[i] *= gain[i - 1]
    carry = np.empty((rows, blocks))
    value = start.reshape(rows).astype(np.float64)
    for j in range(blocks):
        carry[:, j] = value
        value = gain[-1, :, j] * value + offset[-1, :, j]
    result = gain * carry + offset
    return result.transpose(1, 2, 0).reshape(rows, -1)[:, :n]


def cumulative(v: Array, start: Array, op: Op) -> Array:
    """r[:, i] = op(v[:, i], r[:, i-1]) with r[:, -1] = start, float32."""
    if op.name == "subtract":
        signs = np.where(np.arange(v.shape[1]) % 2, -1.0, 1.0)
        return (signs * (np.cumsum(v * signs, axis=1) - start)).astype(np.float32)
    first = v.astype(np.float32)
    first[:, :1] = op.fn(first[:, :1], start)
    result: Array = op.fn.accumulate(first, axis=1)  # type: ignore[attr-defined]
    return result
