"""Elementwise instructions of the vector engine."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..access import assign, copy, fit, integers, raw, values
from ..buffers import PSUM, SBUF
from ..dtypes import I32, U32, Array, DType
from ..errors import NkiError, check
from ..ops import Op, apply, require_ints, resolve_alu
from ..program import current
from ..tensor import NkiTensor
from .common import (
    count,
    free_size,
    pick_engine,
    same_layout,
    same_region_pair,
    tile,
    vector,
    write_op,
)

WIDE_INTS = (I32, U32)


def tensor_copy(dst: Any, src: Any, engine: Any = None, mask: Any = None) -> None:
    """dst = src: bits for equal types, else through float32."""
    tile("tensor_copy", "dst", dst)
    tile("tensor_copy", "src", src)
    same_layout("tensor_copy", "src", src, "dst", dst)
    chosen = pick_engine("tensor_copy", engine, "vector", ("vector", "scalar", "gpsimd"), dst, src)
    program = current()
    if chosen == "scalar" and program.chip.generation < 3:
        raise NkiError("tensor_copy on the scalar engine is only supported for NeuronCore-v3 or newer")
    count(program, ("tensor_copy", chosen), free_size(dst))
    copy(dst, src, mask=mask)


def memset(dst: Any, value: Any, engine: Any = None, mask: Any = None) -> None:
    """dst[...] = value; an integer tile takes only an integer."""
    tile("memset", "dst", dst)
    if not isinstance(value, (int, float, np.number, np.bool_)):
        raise NkiError(f"memset value must be a number, got {type(value).__name__}")
    if dst.dtype.is_int and not float(value).is_integer():
        raise NkiError(f"memset value {value!r} does not match dtype {dst.dtype}: expected an integer")
    if dst.dtype.is_int and isinstance(value, float) and current().generation == "new":
        raise NkiError(f"memset value {value!r} does not match dtype {dst.dtype}: expected an integer")
    chosen = pick_engine("memset", engine, "vector", ("vector", "gpsimd"), dst)
    count(current(), ("memset", chosen), free_size(dst))
    if dst.dtype.is_int:
        low, high = dst.dtype.low, dst.dtype.high
        if not (low <= int(value) <= high):
            raise NkiError(f"memset value {value!r} does not fit dtype {dst.dtype}")
        assign(dst, np.asarray(int(value), dst.dtype.np), mask=mask)
    elif dst.dtype.kind == "p":
        if value != 0:
            raise NkiError(f"memset of packed type {dst.dtype} supports only 0, got {value!r}")
        from ..access import store

        store(dst, np.asarray(0, dst.dtype.np), mask=mask)
    else:
        assign(dst, np.asarray(value, np.float32), mask=mask)


def _joint(*flags: Array | None) -> Array | None:
    """Where all of the operands were written; None when everywhere."""
    known = [f for f in flags if f is not None]
    if not known:
        return None
    result = known[0]
    for flag in known[1:]:
        result = result & fit(flag, result.shape)
    return result


def bitvec(op: Op, a: NkiTensor, b: Any, reverse: bool, mask: Any) -> tuple[Array, Array | None]:
    """A bitvec operator on raw integers; the second operand is cast to the type of the first."""
    left, valid = integers(a, mask)
    if op.arity == 1:
        return op.fn(left), valid
    other_valid = None
    if isinstance(b, NkiTensor):
        require_ints(op, b.dtype)
        right, other_valid = integers(b, mask)
        right = fit(right, left.shape) if right.size == left.size else right.reshape((-1,) + (1,) * (left.ndim - 1))
    else:
        if not isinstance(b, (int, np.integer)):
            raise NkiError(f"bitvec operator nl.{op.name} requires an integer operand, got {b!r}")
        right = np.asarray(b)
    right = right.astype(left.dtype)
    if "shift" in op.name:
        bits = left.dtype.itemsize * 8
        wide = right.astype(np.int64)
        if ((wide < 0) | (wide >= bits)).any():
            current().warn(f"nl.{op.name} by less than 0 or by {bits} or more is undefined")
    result = op.fn(right, left) if reverse else op.fn(left, right)
    if other_valid is not None and other_valid.size == left.size:
        other_valid = fit(other_valid, left.shape)
    return result, _joint(valid, None if other_valid is None else np.broadcast_to(other_valid, left.shape))


def exact_integers(op: Op, a: NkiTensor, b: NkiTensor, mask: Any) -> tuple[Array, Array | None]:
    """A 32-bit integer operation; what overflows wraps, with a warning since the hardware does not define it."""
    left, valid = integers(a, mask)
    right, other = integers(b, mask)
    right = fit(right, left.shape)
    wide = apply(op, left.astype(np.int64), right.astype(np.int64))
    result = wide.astype(np.int64)
    low, high = a.dtype.low, a.dtype.high
    valid = _joint(valid, None if other is None else fit(other, left.shape))
    if ((result < low) | (result > high)).any() and valid is None:
        current().warn(f"nl.{op.name} overflows {a.dtype}: the result is undefined on hardware")
    return result.astype(a.dtype.np), valid


def _all_wide(*dtypes: DType) -> bool:
    return all(d in WIDE_INTS for d in dtypes)


def tensor_tensor(dst: Any, data1: Any, data2: Any, op: Any, engine: Any = None, mask: Any = None) -> None:
    """dst = op(data1, data2) in float32; 32-bit integers exactly while all operands are in SBUF."""
    tile("tensor_tensor", "dst", dst)
    tile("tensor_tensor", "data1", data1)
    tile("tensor_tensor", "data2", data2)
    same_layout("tensor_tensor", "data1", data1, "data2", data2)
    same_layout("tensor_tensor", "data1", data1, "dst", dst)
    same_region_pair("tensor_tensor", "data1", data1, "data2", data2)
    found = resolve_alu(op, "tensor_tensor op", 2)
    chosen = pick_engine("tensor_tensor", engine, "vector", ("vector", "gpsimd"), dst, data1, data2)
    if found.name == "power":
        chosen = "gpsimd"
        check(
            PSUM not in (dst.buffer, data1.buffer, data2.buffer),
            "tensor_tensor op=nl.power runs on the gpsimd engine, which cannot access PSUM",
        )
    count(current(), ("tensor_tensor", chosen), free_size(data1))
    if found.kind == "bitvec":
        require_ints(found, data1.dtype, data2.dtype, dst.dtype)
        result, valid = bitvec(found, data1, data2, False, mask)
        assign(dst, result, mask=mask, valid=valid)
        return
    in_sbuf = dst.storage.region is SBUF and data1.storage.region is SBUF and data2.storage.region is SBUF
    same_ints = data1.dtype is data2.dtype and _all_wide(data1.dtype, dst.dtype)
    if same_ints and in_sbuf and found.name != "power":
        result, valid = exact_integers(found, data1, data2, mask)
        assign(dst, result, mask=mask, valid=valid)
        return
    a, b = values(data1, mask), values(data2, mask)
    write_op(dst, found, a, b if a.shape == b.shape else b.reshape(a.shape), False, mask)


def _stage(name: str, op: Op, v: Array, operand: Any, role: str, data: NkiTensor, reverse: bool) -> Array:
    if op.arity == 1:
        return apply(op, v)
    return apply(op, v, vector(name, role, operand, data, v.ndim), reverse)


def tensor_scalar(
    dst: Any, data: Any, op0: Any, operand0: Any, reverse0: bool = False, op1: Any = None, operand1: Any = None,
    reverse1: bool = False, engine: Any = None, mask: Any = None,
) -> None:  # fmt: skip
    """dst = op1(op0(data, operand0), operand1); operands are scalars or one value for each partition."""
    name = "tensor_scalar"
    tile(name, "dst", dst)
    tile(name, "data", data)
    same_layout(name, "data", data, "dst", dst)
    first = resolve_alu(op0, "tensor_scalar op0")
    second = None if op1 is None else resolve_alu(op1, "tensor_scalar op1")
    check(second is not None or operand1 is None, "tensor_scalar operand1 is set but op1 is None")
    check(second is None or second.arity == 1 or operand1 is not None, "tensor_scalar op1 is set but operand1 is None")
    chosen = pick_engine(name, engine, "vector", ("vector", "scalar", "gpsimd"), dst, data)
    count(current(), (name, chosen), free_size(data))
    if first.kind == "bitvec" or (second is not None and second.kind == "bitvec"):
        check(
            second is None or first.kind == second.kind,
            "tensor_scalar op0 and op1 must both be bitvec or both be arithmetic operators",
        )
        require_ints(first, data.dtype, dst.dtype)
        _bitvec_scalar(dst, data, first, operand0, reverse0, second, operand1, reverse1, mask)
        return
    v = values(data, mask)
    if second is None:
        b = None if first.arity == 1 else vector(name, "operand0", operand0, data, v.ndim)
        write_op(dst, first, v, b, reverse0, mask)
        return
    v = _stage(name, first, v, operand0, "operand0", data, reverse0)
    v = v if v.dtype == np.float32 else v.astype(np.float32)
    b = None if second.arity == 1 else vector(name, "operand1", operand1, data, v.ndim)
    write_op(dst, second, v, b, reverse1, mask)


def _bitvec_scalar(
    dst: Any, data: Any, first: Op, operand0: Any, reverse0: bool, second: Op | None, operand1: Any, reverse1: bool,
    mask: Any,
) -> None:  # fmt: skip
    result, valid = bitvec(first, data, operand0, reverse0, mask)
    if second is not None and second.arity == 1:
        result = second.fn(result)
    elif second is not None:
        right = raw(operand1).reshape((-1,) + (1,) * (result.ndim - 1)) if isinstance(operand1, NkiTensor) else operand1
        right = np.asarray(right).astype(result.dtype)
        result = second.fn(right, result) if reverse1 else second.fn(result, right)
    assign(dst, result, mask=mask, valid=valid)


def scalar_tensor_tensor(
    dst: Any, data: Any, op0: Any, operand0: Any, op1: Any, operand1: Any, reverse0: bool = False,
    reverse1: bool = False, mask: Any = None,
) -> None:  # fmt: skip
    """dst = op1(op0(data, operand0), operand1): operand0 one value a partition, operand1 a whole tile."""
    name = "scalar_tensor_tensor"
    tile(name, "dst", dst)
    tile(name, "data", data)
    tile(name, "operand1", operand1)
    same_layout(name, "data", data, "dst", dst)
    same_layout(name, "data", data, "operand1", operand1)
    same_region_pair(name, "data", data, "operand1", operand1)
    first, second = resolve_alu(op0, f"{name} op0"), resolve_alu(op1, f"{name} op1", 2)
    if "bitvec" in (first.kind, second.kind):
        raise NkiError(f"{name} does not support bitvec operators")
    count(current(), (name, "vector"), free_size(data), 2)
    v = _stage(name, first, values(data, mask), operand0, "operand0", data, reverse0)
    v = v if v.dtype == np.float32 else v.astype(np.float32)
    write_op(dst, second, v, fit(values(operand1, mask), v.shape), reverse1, mask)


def reciprocal(dst: Any, data: Any, mask: Any = None) -> None:
    """dst = 1 / data on the vector engine."""
    tile("reciprocal", "dst", dst)
    tile("reciprocal", "data", data)
    same_layout("reciprocal", "data", data, "dst", dst)
    count(current(), ("reciprocal", "vector"), free_size(data), 8)
    v = values(data, mask)
    assign(dst, np.reciprocal(v), mask=mask)
