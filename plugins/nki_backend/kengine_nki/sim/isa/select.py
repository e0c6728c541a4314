"""Selections by predicate, affine pattern or range, and pattern generation."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..access import assign, fit, raw, store, values, written
from ..buffers import PSUM, SBUF
from ..dtypes import BOOL, F32, I8, I16, U8, U16, U32, Array, DType
from ..enums import member, reduce_cmd
from ..errors import NkiError
from ..ops import OPS, resolve, resolve_reduction
from ..program import current
from ..tensor import NkiTensor
from ..views import scalar_index
from .activate import update_register, write_register
from .common import count, free_size, same_layout, tile, vector

Cmd = reduce_cmd
FP32_MIN = np.float32(np.finfo(np.float32).min)
COMPARISONS = {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"}


def pattern_values(name: str, dst: NkiTensor, pattern: Any, offset: Any, channel_multiplier: Any) -> Array:
    """offset + p * channel_multiplier + sum of index * step over the pattern, int64 of shape (P, F)."""
    pairs = [(scalar_index(step), scalar_index(num)) for step, num in pattern]
    if not (0 < len(pairs) <= 4):
        raise NkiError(f"{name} pattern takes 1 to 4 [step, num] pairs, got {len(pairs)}")
    size = int(np.prod([num for _, num in pairs]))
    if size != free_size(dst):
        raise NkiError(f"{name} pattern has {size} elements, but a partition of the tile holds {free_size(dst)}")
    total: Array = np.zeros((1,) * len(pairs), np.int64)
    for axis, (step, num) in enumerate(pairs):
        total = total + (np.arange(num) * step).reshape([-1 if a == axis else 1 for a in range(len(pairs))])
    rows: Array = np.arange(dst.shape[0])[:, None] * scalar_index(channel_multiplier)
    return scalar_index(offset) + rows + total.reshape(1, -1)


def iota(dst: Any, pattern: Any, offset: Any = 0, channel_multiplier: Any = 0) -> None:
    """dst[p, ...] = offset + p * channel_multiplier + sum of index * step."""
    tile("iota", "dst", dst, (SBUF,))
    numbers = pattern_values("iota", dst, pattern, offset, channel_multiplier)
    count(current(), ("iota", "gpsimd"), free_size(dst), 1, 150)
    assign(dst, numbers if dst.dtype.is_int else numbers.astype(np.float32))


def _pick(dst: NkiTensor, condition: Array, on_true: NkiTensor, on_false: Any, mask: Any) -> None:
    """dst = where(condition, on_true, on_false), exact for equal types."""
    condition = fit(condition, on_true.shape)
    if dst.dtype is on_true.dtype and dst.dtype.is_int and float(on_false).is_integer():
        low = np.clip(int(on_false), dst.dtype.low, dst.dtype.high)
        flags = written(on_true)
        valid = None if flags is None else flags | ~condition
        store(dst, np.where(condition, raw(on_true, mask), dst.dtype.np.type(low)), mask=mask, valid=valid)
        return
    assign(dst, np.where(condition, values(on_true, mask), np.float32(on_false)), mask=mask)


def affine_select(
    dst: Any, pattern: Any, channel_multiplier: Any, on_true_tile: Any, on_false_value: Any, cmp_op: Any = None,
    offset: Any = 0, mask: Any = None,
) -> None:  # fmt: skip
    """dst = on_true_tile where cmp_op(affine value, 0), else on_false_value."""
    name = "affine_select"
    tile(name, "dst", dst, (SBUF,))
    tile(name, "on_true_tile", on_true_tile, (SBUF,))
    same_layout(name, "on_true_tile", on_true_tile, "dst", dst)
    op = OPS["equal"] if cmp_op is None else resolve(cmp_op, f"{name} cmp_op")
    if op.name not in COMPARISONS:
        raise NkiError(f"{name} cmp_op must be a comparison, got nl.{op.name}")
    if isinstance(on_false_value, NkiTensor):
        raise NkiError(f"{name} on_false_value must be a number")
    numbers = pattern_values(name, dst, pattern, offset, channel_multiplier)
    count(current(), (name, "gpsimd"), free_size(dst), 1, 150)
    _pick(dst, op.fn(numbers, 0), on_true_tile, on_false_value, mask)


def select_predicate(dst: Any, predicate: Array, on_true_tile: Any, on_false_value: Any, mask: Any = None) -> None:
    """The old generation's affine_select: the predicate comes as an index expression."""
    tile("affine_select", "on_true_tile", on_true_tile)
    if np.broadcast_shapes(predicate.shape, on_true_tile.shape) != on_true_tile.shape:
        raise NkiError(
            f"affine_select pred of shape {predicate.shape} does not fit a tile of shape {on_true_tile.shape}"
        )
    count(current(), ("affine_select", "gpsimd"), free_size(on_true_tile), 1, 150)
    _pick(dst, np.broadcast_to(predicate, on_true_tile.shape), on_true_tile, on_false_value, mask)


def range_select(
    dst: Any, on_true_tile: Any, comp_op0: Any, comp_op1: Any, bound0: Any, bound1: Any,
    reduce_cmd: Any = Cmd.reset_reduce, reduce_res: Any = None, reduce_op: Any = None, range_start: Any = 0,
    on_false_value: Any = FP32_MIN, mask: Any = None,
) -> None:  # fmt: skip
    """dst = on_true_tile where both comparisons of the free index with the bounds hold, else the smallest float32."""
    name = "range_select"
    program = current()
    if program.chip.generation < 3:
        raise NkiError(f"{name} is only supported for NeuronCore-v3 or newer")
    tile(name, "dst", dst)
    tile(name, "on_true_tile", on_true_tile)
    same_layout(name, "on_true_tile", on_true_tile, "dst", dst)
    if on_true_tile.dtype.kind != "f":
        raise NkiError(f"{name} on_true_tile must be a float type, got {on_true_tile.dtype}")
    count(program, (name, "vector"), free_size(dst))
    v = values(on_true_tile, mask)
    flat = v.reshape(v.shape[0], -1)
    index = (float(range_start) + np.arange(flat.shape[1])).astype(np.float32)[None, :]
    condition: Any = True
    for role, comparison, bound in (("0", comp_op0, bound0), ("1", comp_op1, bound1)):
        op = resolve(comparison, f"{name} comp_op{role}")
        if op.name not in COMPARISONS - {"not_equal"}:
            raise NkiError(f"{name} comp_op{role} must be a comparison, got nl.{op.name}")
        tile(name, f"bound{role}", bound)
        if bound.dtype is not F32:
            raise NkiError(f"{name} bound{role} must be float32, got {bound.dtype}")
        condition = condition & op.fn(index, vector(name, f"bound{role}", bound, on_true_tile, 2))
    result = np.where(condition, flat, FP32_MIN)
    assign(dst, result.reshape(dst.shape), mask=mask)
    if reduce_res is not None:
        reducer = OPS["maximum"] if reduce_op is None else resolve_reduction(reduce_op, f"{name} reduce_op")
        if reducer.name != "maximum":
            raise NkiError(f"{name} reduce_op must be nl.maximum, got nl.{reducer.name}")
        state = update_register(program, "vector", Cmd.reset_reduce, reducer, result)
        write_register(reduce_res, state, on_true_tile, name)


def _require(name: str, role: str, dtype: DType, allowed: tuple[DType, ...]) -> None:
    if dtype not in allowed:
        raise NkiError(f"{name} {role} dtype must be one of {[str(d) for d in allowed]}, got {dtype}")


def _one_psum(name: str, first: str, a: Any, second: str, b: Any) -> None:
    both = isinstance(a, NkiTensor) and a.buffer is PSUM and b.buffer is PSUM
    if both:
        raise NkiError(f"{name} {first} and {second} cannot both be in psum")


def select_reduce(
    dst: Any, predicate: Any, on_true: Any, on_false: Any, reduce_res: Any = None, reduce_cmd: Any = Cmd.idle,
    reduce_op: Any = None, reverse_pred: bool = False, mask: Any = None,
) -> None:  # fmt: skip
    """dst = where(predicate, on_true, on_false), with an optional running maximum."""
    name = "select_reduce"
    for role, item in (("dst", dst), ("predicate", predicate), ("on_true", on_true)):
        tile(name, role, item)
        same_layout(name, role, item, "dst", dst)
    _require(name, "predicate", predicate.dtype, (I8, U8, I16, U16, BOOL))
    _one_psum(name, "on_true", on_true, "predicate", predicate)
    if on_true.dtype.name in ("tfloat32", "int32", "uint32"):
        raise NkiError(f"{name} on_true cannot be {on_true.dtype}")
    program = current()
    count(program, (name, "vector"), free_size(dst))
    condition = fit(values(predicate, mask), dst.shape) != 0
    condition = ~condition if reverse_pred else condition
    v = np.where(condition, fit(values(on_true, mask), dst.shape), vector(name, "on_false", on_false, dst, dst.ndim))
    assign(dst, v, mask=mask)
    command = member(reduce_cmd, Cmd, f"{name} reduce_cmd")
    if reduce_res is not None or command is not Cmd.idle:
        reducer = OPS["maximum"] if reduce_op is None else resolve_reduction(reduce_op, f"{name} reduce_op")
        if reducer.name != "maximum":
            raise NkiError(f"{name} reduce_op must be nl.maximum, got nl.{reducer.name}")
        write_register(reduce_res, update_register(program, "vector", command, reducer, v), dst, name)


def tensor_copy_predicated(dst: Any, src: Any, predicate: Any, reverse_pred: bool = False, mask: Any = None) -> None:
    """dst = src where the predicate is set; other elements stay."""
    name = "tensor_copy_predicated"
    tile(name, "dst", dst)
    tile(name, "predicate", predicate)
    same_layout(name, "predicate", predicate, "dst", dst)
    _require(name, "predicate", predicate.dtype, (U8, U16, U32, BOOL))
    _one_psum(name, "src", src, "predicate", predicate)
    count(current(), (name, "vector"), free_size(dst), 2)
    flags = written(predicate)
    if flags is not None:
        current().warn(f"{name} predicate is not fully written")
    condition = fit(raw(predicate, mask), dst.shape) != 0
    condition = ~condition if reverse_pred else condition
    if mask is not None:
        condition = condition & mask
    if isinstance(src, NkiTensor):
        tile(name, "src", src)
        same_layout(name, "src", src, "dst", dst)
        if src.dtype is not dst.dtype:
            raise NkiError(f"{name} src and dst must have the same dtype, got {src.dtype} and {dst.dtype}")
        valid = written(src)
        store(dst, fit(raw(src), dst.shape), mask=condition, valid=None if valid is None else fit(valid, dst.shape))
    elif isinstance(src, (int, float, np.number)):
        assign(dst, np.asarray(src, np.float32), mask=condition)
    else:
        raise NkiError(f"{name} src must be a tile or a number, got {type(src).__name__}")
