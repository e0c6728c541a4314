"""The functions of nki.language that compute on tiles and return a new one."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..access import assign, copy, fit, raw, values, written
from ..allocation import allocate, new_tile
from ..buffers import HBM, MATMUL, PSUM, SBUF
from ..dtypes import BOOL, F32, Array, DType, as_dtype
from ..errors import NkiError
from ..ops import IDENTITY, OPS, Op, apply, require_ints
from ..program import current
from ..tensor import NkiTensor
from .activate import invalid_inputs
from .common import count, free_size, tile
from .dma import operand, transfer
from .elementwise import bitvec
from .matmul import matmul_tiles
from .reduce import axes_of, reduce_axes


def promote(*operands: Any) -> DType:
    """The most precise type among the tiles; a float number with integer tiles gives float32."""
    kinds = [o.dtype for o in operands if isinstance(o, NkiTensor)]
    best: DType = kinds[0] if kinds else F32
    for other in kinds[1:]:
        if other is best:
            continue
        if other.kind == "f" and best.kind == "f" and other.itemsize == best.itemsize:
            best = F32
        elif (other.kind == "f", other.itemsize) > (best.kind == "f", best.itemsize):
            best = other
    if best.is_int and any(isinstance(o, (float, np.floating)) for o in operands):
        return F32
    return best


def _operand(name: str, role: str, value: Any, mask: Any) -> Any:
    if isinstance(value, NkiTensor):
        tile(name, role, value)
        return values(
            value,
            mask if mask is not None and np.broadcast_shapes(np.shape(mask), value.shape) == value.shape else None,
        )
    if isinstance(value, (int, float, np.number, np.bool_)) or hasattr(value, "__index__"):
        return np.float32(value)
    raise NkiError(f"{name} {role} must be a tile or a number, got {type(value).__name__}")


def _result(name: str, array: Array, dtype: DType, mask: Any = None, valid: Array | None = None) -> Any:
    array = np.asarray(array)
    array = array.reshape(array.shape + (1,) * (2 - array.ndim))
    out = new_tile(array.shape, dtype)
    count(current(), (name, "vector"), array[0].size)
    if mask is not None:
        mask = np.broadcast_to(mask, array.shape)
    assign(out, array, mask=mask, valid=valid)
    return out


def unary(op: Op, x: Any, dtype: Any = None, mask: Any = None) -> Any:
    """op(x) as a new tile of x's type, or of `dtype`."""
    if not isinstance(x, NkiTensor):
        raise NkiError(f"{op.name} x must be a tile, got {type(x).__name__}")
    tile(op.name, "x", x)
    kind = x.dtype if dtype is None else as_dtype(dtype)
    if op.kind == "logical" and dtype is None:
        kind = BOOL
    if op.kind == "bitvec":
        require_ints(op, x.dtype)
        bits, valid = bitvec(op, x, None, False, mask)
        return _result(op.name, bits, kind, mask, valid)
    if op.name == "copy":
        out = new_tile(x.shape, kind)
        count(current(), ("copy", "vector"), free_size(x))
        copy(out, x, mask=mask)
        return out
    v = values(x, mask)
    if op.name != "reciprocal":
        invalid_inputs(op.name, v, "nl", False)
    return _result(op.name, apply(op, v), kind, mask)


def binary(op: Op, x: Any, y: Any, dtype: Any = None, mask: Any = None) -> Any:
    """op(x, y) with numpy broadcasting, as a new tile."""
    if not (isinstance(x, NkiTensor) or isinstance(y, NkiTensor)):
        raise NkiError(f"{op.name} needs at least one tile, got {x!r}, {y!r}")
    if op.kind == "bitvec":
        return _bitwise(op, x, y, dtype, mask)
    kind = as_dtype(dtype) if dtype is not None else BOOL if op.kind in ("compare", "logical") else promote(x, y)
    a, b = _operand(op.name, "x", x, mask), _operand(op.name, "y", y, mask)
    try:
        shape = np.broadcast_shapes(np.shape(a), np.shape(b))
    except ValueError:
        raise NkiError(f"{op.name}: shapes {np.shape(a)} and {np.shape(b)} do not broadcast") from None
    if mask is None and kind is F32 and op.ufunc:
        out = new_tile(shape, F32)
        out.mark(2)
        count(current(), (op.name, "vector"), int(np.prod(shape[1:])))
        op.fn(a, b, out=out.array(), casting="unsafe")
        return out
    return _result(op.name, op.fn(a, b), kind, mask)


def _bitwise(op: Op, x: Any, y: Any, dtype: Any, mask: Any) -> Any:
    if not isinstance(x, NkiTensor):
        require_ints(op, y.dtype)
        bits, valid = bitvec(op, y, x, True, mask)
        return _result(op.name, bits, y.dtype if dtype is None else as_dtype(dtype), mask, valid)
    require_ints(op, x.dtype)
    bits, valid = bitvec(op, x, y, False, mask)
    return _result(op.name, bits, x.dtype if dtype is None else as_dtype(dtype), mask, valid)


def accumulate(op: Op, target: Any, other: Any) -> Any:
    """target op= other, in place."""
    value = _operand(op.name, "y", other, None)
    v = values(target)
    try:
        result = op.fn(v, value)
    except ValueError:
        raise NkiError(f"{op.name}: shapes {v.shape} and {np.shape(value)} do not broadcast") from None
    if result.shape != v.shape:
        raise NkiError(f"{op.name}: cannot accumulate a tile of shape {np.shape(value)} into {v.shape}")
    count(current(), (op.name, "vector"), free_size(target))
    assign(target, result, MATMUL if target.buffer is PSUM else 2)
    return target


REDUCERS = {"sum": "add", "max": "maximum", "min": "minimum", "prod": "multiply"}


def reduce(name: str, x: Any, axis: Any, dtype: Any = None, mask: Any = None, keepdims: bool = False) -> Any:
    """nl.sum, max, min, prod, mean, var or all over free axes."""
    if not isinstance(x, NkiTensor):
        raise NkiError(f"{name} x must be a tile, got {type(x).__name__}")
    tile(name, "x", x)
    axes = axes_of(axis, x.ndim)
    if 0 in axes:
        raise NkiError(f"{name} cannot reduce the partition dimension: axis={axis}")
    v = values(x, mask)
    keep = None if mask is None else np.broadcast_to(mask, v.shape)
    number: Any = np.float32(np.prod([v.shape[a] for a in axes]))
    if keep is not None:
        number = np.maximum(keep.sum(axis=axes, keepdims=True), 1).astype(np.float32)
    kind = x.dtype if dtype is None else as_dtype(dtype)
    if name == "all":
        kind = BOOL if dtype is None else kind
        result = (v != 0 if keep is None else (v != 0) | ~keep).all(axis=axes, keepdims=True).astype(np.float32)
    elif name in REDUCERS:
        op = OPS[REDUCERS[name]]
        hidden = v if keep is None else np.where(keep, v, np.float32(IDENTITY[op.name]))
        result = reduce_axes(hidden, op, axes)
    else:
        hidden = v if keep is None else np.where(keep, v, np.float32(0))
        result = reduce_axes(hidden, OPS["add"], axes) / number
        if name == "var":
            spread = np.square(v - result)
            spread = spread if keep is None else np.where(keep, spread, np.float32(0))
            result = reduce_axes(spread, OPS["add"], axes) / number
    if not keepdims:
        result = result.reshape([n for a, n in enumerate(v.shape) if a not in axes])
    return _result(name, result, kind)


def softmax(x: Any, axis: Any, dtype: Any = None, mask: Any = None) -> Any:
    """exp(x - max) / sum over `axis`."""
    tile("softmax", "x", x)
    axes = axes_of(axis, x.ndim)
    if 0 in axes:
        raise NkiError(f"softmax cannot reduce the partition dimension: axis={axis}")
    v = values(x, mask)
    v = v if mask is None else np.where(mask, v, np.float32(-np.inf))
    e = np.exp(v - v.max(axis=axes, keepdims=True))
    return _result("softmax", e / e.sum(axis=axes, keepdims=True), x.dtype if dtype is None else as_dtype(dtype), mask)


def rms_norm(x: Any, w: Any, axis: Any, n: Any, epsilon: float = 1e-6, dtype: Any = None, mask: Any = None) -> Any:
    """x / sqrt(sum(x^2) / n + epsilon) * w over `axis`."""
    tile("rms_norm", "x", x)
    axes = axes_of(axis, x.ndim)
    v = values(x, mask)
    hidden = v if mask is None else np.where(mask, v, np.float32(0))
    total = np.square(hidden).sum(axis=axes, keepdims=True)
    result = v * np.reciprocal(np.sqrt(total / np.float32(n) + np.float32(epsilon)))
    if w is not None:
        result = result * _operand("rms_norm", "w", w, None)
    return _result("rms_norm", result, x.dtype if dtype is None else as_dtype(dtype), mask)


def where(condition: Any, x: Any, y: Any, dtype: Any = None, mask: Any = None) -> Any:
    """x where condition is not 0, else y."""
    tile("where", "condition", condition)
    picked = _operand("where", "condition", condition, mask)
    result = np.where(picked != 0, _operand("where", "x", x, mask), _operand("where", "y", y, mask))
    result = np.where(np.isnan(picked), np.float32(np.nan), result)
    return _result("where", result, promote(x, y) if dtype is None else as_dtype(dtype), mask)


def load(src: Any, dtype: Any = None, mask: Any = None) -> Any:
    """A new SBUF tile holding an HBM tensor."""
    program = current()
    if not isinstance(src, NkiTensor):
        raise NkiError(f"load src must be a tensor, got {type(src).__name__}")
    if src.on_chip:
        raise NkiError(
            f"Expected operand 'src' of 'load' to be in address space 'hbm', but got a tile in '{src.buffer}' instead."
        )
    if src.shape[0] > 128:
        raise NkiError(
            f"number of partitions {src.shape[0]} exceed architecture limitation of 128: load of shape {src.shape}"
        )
    out = new_tile(src.shape, src.dtype if dtype is None else as_dtype(dtype))
    transfer("load", out, src, program)
    copy(out, src, mask=mask)
    return out


def store(dst: Any, value: Any, mask: Any = None) -> None:
    """Write a tile, or a number, to an HBM tensor."""
    program = current()
    if not isinstance(dst, NkiTensor):
        raise NkiError(f"store dst must be a tensor, got {type(dst).__name__}")
    if dst.on_chip:
        raise NkiError(f"Expected operand 'dst' of 'store' to be in address space 'hbm', got '{dst.buffer}'")
    if not isinstance(value, NkiTensor):
        if not isinstance(value, (int, float, np.number)):
            raise NkiError(f"store value must be a tile, got {type(value).__name__}")
        transfer("store", dst, dst, program)
        assign(dst, np.asarray(value, np.float32), mask=mask)
        return
    if not value.on_chip:
        raise NkiError(f"store value must be a tile in SBUF or PSUM, got {value.buffer}")
    transfer("store", dst, value, program)
    if value.size == dst.size:
        copy(dst, value, mask=mask)
        return
    try:
        fits = np.broadcast_shapes(dst.shape, value.shape) == dst.shape
    except ValueError:
        fits = False
    if not fits:
        raise NkiError(f"store: cannot store a tile of shape {value.shape} to a destination of shape {dst.shape}")
    assign(dst, values(value), mask=mask)


def load_transpose2d(src: Any, dtype: Any = None, mask: Any = None) -> Any:
    """A new SBUF tile holding the transpose of a 2-D HBM tensor."""
    program = current()
    operand("load_transpose2d", "src", src, program)
    if src.ndim != 2:
        raise NkiError(f"load_transpose2d src must be 2-dimensional, got shape {src.shape}")
    if src.shape[1] > 128:
        raise NkiError(f"number of partitions {src.shape[1]} exceed architecture limitation of 128")
    out = new_tile(src.shape[::-1], src.dtype if dtype is None else as_dtype(dtype))
    transfer("load_transpose2d", out, src, program)
    flipped = None if mask is None else np.broadcast_to(mask, src.shape).T
    if out.dtype is src.dtype:
        from ..access import store as store_raw

        flags = written(src) if src.dtype.kind != "f" else None
        store_raw(out, raw(src, mask).T, mask=flipped, valid=None if flags is None else flags.T)
    else:
        assign(out, values(src, mask).T, mask=flipped)
    return out


def transpose(x: Any, dtype: Any = None, mask: Any = None) -> Any:
    """A new tile with partition and free axis swapped."""
    tile("transpose", "x", x)
    if x.ndim != 2:
        raise NkiError(f"transpose x must be 2-dimensional, got shape {x.shape}")
    if x.shape[1] > 128:
        raise NkiError(f"transpose free dimension {x.shape[1]} exceeds maximum 128")
    kind = x.dtype if dtype is None else as_dtype(dtype)
    v = values(x, mask).T
    out = new_tile(v.shape, kind, SBUF)
    count(current(), ("transpose", "tensor"), x.shape[1])
    assign(out, v)
    return out


def matmul(x: Any, y: Any, transpose_x: bool = False, mask: Any = None) -> Any:
    """x @ y, or x.T @ y, as a new float32 tile in PSUM."""
    product = matmul_tiles(x, y, transpose_x)
    out = new_tile(product.shape, F32, PSUM)
    assign(out, product, MATMUL, mask)
    return out


def gather_flattened(data: Any, indices: Any, axis: Any = 0, dtype: Any = None, mask: Any = None) -> Any:
    """out[p, i] = data[p, indices[p, i]] over the flattened free axes."""
    tile("gather_flattened", "data", data)
    tile("gather_flattened", "indices", indices)
    if axis != 0:
        raise NkiError(f"gather_flattened supports axis=0, got {axis}")
    if not indices.dtype.is_int:
        raise NkiError(f"gather_flattened indices must be integers, got {indices.dtype}")
    if indices.shape[0] != data.shape[0]:
        raise NkiError(
            f"gather_flattened data and indices must have as many partitions, got {data.shape} and {indices.shape}"
        )
    picks = raw(indices).reshape(data.shape[0], -1).astype(np.int64)
    flat = values(data).reshape(data.shape[0], -1)
    bad = (picks < 0) | (picks >= flat.shape[1])
    if mask is not None:
        bad = bad & np.broadcast_to(mask, indices.shape).reshape(bad.shape)
        picks = np.clip(picks, 0, flat.shape[1] - 1)
    if bad.any():
        raise NkiError(f"gather_flattened index out of range for {flat.shape[1]} elements per partition")
    result = np.take_along_axis(flat, picks, 1).reshape(indices.shape)
    return _result("gather_flattened", result, data.dtype if dtype is None else as_dtype(dtype), mask)


def broadcast_tile(x: Any, shape: Any, dtype: Any = None) -> Any:
    """A new tile with x broadcast to `shape`."""
    tile("broadcast_to", "x", x)
    sizes = tuple(int(n) for n in shape)
    try:
        result = np.broadcast_to(values(x), sizes)
    except ValueError:
        raise NkiError(f"broadcast_to: cannot broadcast shape {x.shape} to {sizes}") from None
    return _result("broadcast_to", result, x.dtype if dtype is None else as_dtype(dtype))


def filled(shape: Any, value: Any, dtype: Any, buffer: Any = None, name: str = "") -> Any:
    """A new tensor with every element `value`."""
    out = allocate(shape, dtype, buffer, name)
    whole = out if out.par == 0 else out.make(out.offset, out.shape, out.strides, 0)
    count(current(), ("memset", "vector"), out.size // out.shape[out.par] if out.on_chip else 64)
    assign(
        whole, np.asarray(value, np.int64 if isinstance(value, (int, np.integer)) and out.dtype.is_int else np.float32)
    )
    return out


def rand(shape: Any, dtype: Any = F32, buffer: Any = None, name: str = "") -> Any:
    """A new tensor of uniform random numbers from [0, 1)."""
    out = allocate(shape, dtype, buffer, name)
    program = current()
    count(program, ("rand", "vector"), out.size // out.shape[0])
    assign(out, program.rng.random(out.shape).astype(np.float32))
    return out


def dropout(x: Any, rate: Any, dtype: Any = None, mask: Any = None) -> Any:
    """x with each element zero with probability `rate`."""
    tile("dropout", "x", x)
    v = values(x, mask)
    level = _operand("dropout", "rate", rate, None)
    drop = current().rng.random(v.shape) < level
    kind = x.dtype if dtype is None else as_dtype(dtype)
    return _result("dropout", np.where(drop, np.float32(0), v), kind, mask)


def shared_constant(constant: Any, dtype: Any = None) -> Any:
    """An HBM tensor holding a compile-time numpy array."""
    if not isinstance(constant, np.ndarray):
        raise NkiError(f"shared_constant takes a numpy array, got {type(constant).__name__}")
    kind = as_dtype(constant.dtype if dtype is None else dtype)
    out = allocate(constant.shape, kind, HBM, "constant", share=False)
    assign(out, constant.astype(np.float32) if kind.kind == "f" else constant)
    return out


def atomic_rmw(dst: Any, value: Any, op: Any, mask: Any = None) -> None:
    """dst = op(dst, value) in HBM, repeated indices included; op is add."""
    from ..ops import resolve
    from .dma import accumulate_into

    found = resolve(op, "atomic_rmw op")
    if found.name != "add":
        raise NkiError(f"atomic_rmw op must be add, got {found.name}")
    if dst.on_chip:
        raise NkiError(f"atomic_rmw dst must be in HBM, got {dst.buffer}")
    transfer("atomic_rmw", dst, value, current())
    accumulate_into(dst, fit(values(value), dst.shape), mask)
