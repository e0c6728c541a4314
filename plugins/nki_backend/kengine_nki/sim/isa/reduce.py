"""Reductions, scans and cumulative instructions of the vector engine, and the partition reduction of GpSimd."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..access import assign, integers, values
from ..dtypes import I32, U32, Array
from ..enums import member, reduce_cmd
from ..errors import NkiError
from ..ops import IDENTITY, Op, apply, require_ints, resolve_alu, resolve_reduction
from ..program import current
from .activate import reduce_free, update_register, write_register
from .common import count, free_size, same_layout, same_region_pair, tile, vector
from .scan import cumulative, scan

Cmd = reduce_cmd


def axes_of(axis: Any, ndim: int) -> tuple[int, ...]:
    """Reduction axes as sorted non-negative ints."""
    given = (axis,) if isinstance(axis, (int, np.integer)) else tuple(axis)
    if len(given) == 1 and 0 <= given[0] < ndim:
        return (int(given[0]),)
    for a in given:
        if not (-ndim <= int(a) < ndim):
            raise NkiError(f"tensor_reduce axis {a} out of range for a tile with {ndim} dimensions")
    return tuple(sorted({int(a) % ndim for a in given}))


def reduce_axes(v: Array, op: Op, axes: tuple[int, ...]) -> Array:
    """Reduce `axes` of `v`, keeping them with size 1."""
    if op.name in ("abs_max", "abs_min"):
        moved = np.moveaxis(v, axes, range(v.ndim - len(axes), v.ndim))
        flat = moved.reshape(-1, math.prod([v.shape[a] for a in axes]))
        return reduce_free(flat, op).reshape([1 if a in axes else n for a, n in enumerate(v.shape)])
    if len(axes) > 1 and op.name == "subtract":
        moved = np.moveaxis(v, axes, range(v.ndim - len(axes), v.ndim))
        kept = [n for a, n in enumerate(v.shape) if a not in axes]
        flat = moved.reshape(*kept, -1)
        result: Array = op.fn.reduce(flat, axis=-1)  # type: ignore[attr-defined]
        return result.reshape([1 if a in axes else n for a, n in enumerate(v.shape)])
    result = op.fn.reduce(v, axis=axes, keepdims=True)  # type: ignore[attr-defined]
    return result if op.kind != "logical" else result.astype(np.float32)


def tensor_reduce(
    dst: Any, op: Any, data: Any, axis: Any, negate: bool = False, keepdims: bool = False, mask: Any = None
) -> None:
    """dst = reduction of `data` over its trailing free axes."""
    name = "tensor_reduce"
    tile(name, "dst", dst)
    tile(name, "data", data)
    found = resolve_reduction(op, f"{name} op")
    axes = axes_of(axis, data.ndim)
    if 0 in axes:
        raise NkiError(f"{name} cannot reduce the partition dimension: axis={axis}")
    program = current()
    ndim = len(data.shape)
    trailing = axes[0] == ndim - len(axes) and len(axes) == axes[-1] - axes[0] + 1
    if not (trailing or program.generation == "old"):
        raise NkiError(f"{name} axis must be the last contiguous dim(s) of the tile. Got axis={axis}")
    kept = data.size // math.prod([data.shape[a] for a in axes])
    if not (dst.size == kept and dst.shape[0] == data.shape[0]):
        raise NkiError(
            f"{name} dst must hold {kept} elements in {data.shape[0]} partitions for axis={axis}, got {dst.shape}"
        )
    count(program, (name, "vector"), free_size(data))
    if found.kind == "bitvec":
        require_ints(found, data.dtype, dst.dtype)
        if negate:
            raise NkiError(f"{name} negate needs an arithmetic operator")
        bits, valid = integers(data)
        whole = None if valid is None else valid.all(axis=axes, keepdims=True)
        assign(dst, found.fn.reduce(bits, axis=axes), valid=whole)  # type: ignore[attr-defined]
        return
    v = values(data, mask)
    if mask is not None:
        v = np.where(mask, v, np.float32(IDENTITY[found.name]))
    v = reduce_axes(v, found, axes)
    assign(dst, np.negative(v) if negate else v)


def tensor_partition_reduce(dst: Any, op: Any, data: Any, mask: Any = None) -> None:
    """dst (1 partition) = reduction of `data` over its partitions; add, maximum, bitwise_or and bitwise_and."""
    name = "tensor_partition_reduce"
    tile(name, "dst", dst)
    tile(name, "data", data)
    found = resolve_reduction(op, f"{name} op")
    if found.name not in ("add", "maximum", "bitwise_or", "bitwise_and"):
        raise NkiError(f"{name} op must be add, max, bitwise_or or bitwise_and, got nl.{found.name}")
    if not (dst.shape[0] == 1 and dst.size == free_size(data)):
        raise NkiError(f"{name} dst must have 1 partition of {free_size(data)} elements, got {dst.shape}")
    count(current(), (name, "gpsimd"), free_size(data) * data.shape[0])
    if found.kind == "bitvec":
        require_ints(found, data.dtype, dst.dtype)
        bits, valid = integers(data)
        whole = None if valid is None else valid.all(axis=0, keepdims=True)
        assign(dst, found.fn.reduce(bits, axis=0), valid=whole)  # type: ignore[attr-defined]
        return
    v = values(data, mask)
    v = v if mask is None else np.where(mask, v, np.float32(IDENTITY[found.name]))
    assign(dst, found.fn.reduce(v, axis=0))  # type: ignore[attr-defined]


def tensor_scalar_reduce(
    dst: Any, data: Any, op0: Any, operand0: Any, reduce_op: Any, reduce_res: Any = None, reverse0: bool = False,
    reduce_cmd: Any = Cmd.reset_reduce, reduce_init: Any = None, reduce_res_negate: bool = False, mask: Any = None,
) -> None:  # fmt: skip
    """dst = op0(data, operand0), and its reduction over all free axes to reduce_res."""
    name = "tensor_scalar_reduce"
    tile(name, "dst", dst)
    tile(name, "data", data)
    same_layout(name, "data", data, "dst", dst)
    first, reducer = resolve_alu(op0, f"{name} op0"), resolve_reduction(reduce_op, f"{name} reduce_op")
    if "bitvec" in (first.kind, reducer.kind):
        raise NkiError(f"{name} does not support bitvec operators")
    program = current()
    count(program, (name, "vector"), free_size(data), 1, 64)
    v = values(data, mask)
    operand = None if first.arity == 1 else vector(name, "operand0", operand0, data, v.ndim)
    v = apply(first, v, operand, reverse0).astype(np.float32, copy=False)
    assign(dst, v, mask=mask)
    command = member(reduce_cmd, Cmd, f"{name} reduce_cmd")
    hidden = v if mask is None else np.where(mask, v, np.float32(IDENTITY[reducer.name]))
    start = None
    if command is Cmd.load_reduce:
        if reduce_init is None:
            raise NkiError(f"{name} reduce_cmd.load_reduce needs reduce_init")
        start = vector(name, "reduce_init", reduce_init, data, 2)
    state = update_register(program, "vector", command, reducer, hidden, start)
    if reduce_res_negate and state is not None:
        state = np.negative(state)
    write_register(reduce_res, state, data, name)


def tensor_tensor_scan(
    dst: Any, data0: Any, data1: Any, initial: Any, op0: Any, op1: Any, reverse0: bool = False,
    reverse1: bool = False, mask: Any = None,
) -> None:  # fmt: skip
    """dst[:, i] = op1(op0(data0[:, i], dst[:, i-1]), data1[:, i]), starting from `initial`, in float32."""
    name = "tensor_tensor_scan"
    for role, item in (("dst", dst), ("data0", data0), ("data1", data1)):
        tile(name, role, item)
        same_layout(name, "data0", data0, role, item)
    same_region_pair(name, "data0", data0, "data1", data1)
    first, second = resolve_alu(op0, f"{name} op0", 2), resolve_alu(op1, f"{name} op1", 2)
    if "bitvec" in (first.kind, second.kind):
        raise NkiError(f"{name} does not support bitvec operators")
    count(current(), (name, "vector"), free_size(data0), 2)
    rows = data0.shape[0]
    a, b = values(data0, mask).reshape(rows, -1), values(data1, mask).reshape(rows, -1)
    start = np.broadcast_to(vector(name, "initial", initial, data0, 2), (rows, 1))
    assign(dst, scan(a, b, start, first, second, reverse0, reverse1), mask=mask)


def tensor_scalar_cumulative(
    dst: Any, src: Any, op0: Any, op1: Any, imm0: Any, imm1: Any = None, reduce_cmd: Any = Cmd.reset_reduce
) -> None:
    """dst[:, i] = op1(op0(src[:, i], imm0), dst[:, i-1]); the register carries over between instructions."""
    name = "tensor_scalar_cumulative"
    tile(name, "dst", dst)
    tile(name, "src", src)
    same_layout(name, "src", src, "dst", dst)
    first, second = resolve_alu(op0, f"{name} op0"), resolve_alu(op1, f"{name} op1", 2)
    if second.name not in ("add", "subtract", "multiply", "maximum", "minimum"):
        raise NkiError(f"{name} op1 must be add, subtract, multiply, maximum or minimum, got nl.{second.name}")
    for role, item in (("dst", dst), ("src", src)):
        if item.dtype in (I32, U32):
            raise NkiError(f"{name} {role} cannot be {item.dtype}")
    program = current()
    count(program, (name, "vector"), free_size(src), 2)
    command = member(reduce_cmd, Cmd, f"{name} reduce_cmd")
    v = values(src).reshape(src.shape[0], -1)
    operand = None if first.arity == 1 else vector(name, "imm0", imm0, src, 2)
    v = apply(first, v, operand).astype(np.float32, copy=False)
    rows = (src.shape[0], 1)
    if command is Cmd.load_reduce:
        if imm1 is None:
            raise NkiError(f"{name} reduce_cmd.load_reduce needs imm1")
        start: Any = vector(name, "imm1", imm1, src, 2)
    elif command is Cmd.reset_reduce:
        start = np.float32(IDENTITY[second.name])
    else:
        if command is not Cmd.reduce:
            raise NkiError(f"{name} does not support reduce_cmd.{command.name}")
        start = program.registers.get("vector")
        start = np.float32(np.nan) if start is None else start
    result = cumulative(v, np.broadcast_to(start, rows), second)
    program.registers["vector"] = result[:, -1:].copy()
    assign(dst, result)
