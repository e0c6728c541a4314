"""Reading and writing tensors: poison, casts, masks, gathers."""

from __future__ import annotations

import math

import numpy as np

from .buffers import MIXED, NONE, OTHER
from .dtypes import F32, Array, cast
from .errors import NkiError, RunFault
from .program import state
from .tensor import NkiTensor


def _touch(tensor: NkiTensor) -> bool:
    """Note a read; True if the session is strict."""
    program = state.program
    if program is None:
        return False
    tensor.storage.last = program.count
    return program.strict


def written(tensor: NkiTensor) -> Array | None:
    """Which elements were written, as booleans shaped like the tensor; None when all were."""
    storage = tensor.storage
    if storage.uniform > 0 or not storage.tracked:
        return None
    if tensor.gather is not None:
        tags = storage.materialize() if storage.unit == tensor.dtype.itemsize else None
        if tags is None:
            return None
        flags = tags[np.clip(tensor.gather.flat, 0, tags.size - 1)] != 0
    elif storage.uniform == NONE:
        return np.zeros(tensor.shape, bool)
    else:
        tags = tensor.tag_array()
        flags = tags.all(-1) if tags.ndim > len(tensor.shape) else tags != 0
    return None if flags.all() else flags


def _require_written(tensor: NkiTensor, mask: Array | None) -> None:
    flags = written(tensor)
    if flags is not None and not (flags if mask is None else flags | ~np.broadcast_to(mask, flags.shape)).all():
        raise RunFault(
            f"read of uninitialized {tensor.buffer} memory: tensor `{tensor.name}` of shape {tensor.shape} "
            "is not fully written"
        )


def _gathered(tensor: NkiTensor, mask: Array | None) -> Array:
    gather = tensor.gather
    assert gather is not None
    storage = tensor.storage
    if storage.uniform == NONE and not storage.filled:
        storage.poison()
    flat = storage.bytes.view(tensor.dtype.np)
    if gather.inside is None:
        return flat[gather.flat]
    _require_inside(tensor, mask)
    values = flat[np.where(gather.inside, gather.flat, 0)]
    values[~np.broadcast_to(gather.inside, values.shape)] = np.nan if tensor.dtype.kind == "f" else 4
    return values


def _require_inside(tensor: NkiTensor, mask: Array | None) -> None:
    """NkiError if an element outside of the tensor is not hidden by the mask (or by skip mode)."""
    gather = tensor.gather
    assert gather is not None
    if gather.inside is None or gather.problem == "":
        return
    hidden = gather.inside if mask is None else gather.inside | ~np.broadcast_to(mask, gather.inside.shape)
    if not hidden.all():
        raise RunFault(gather.problem)


def raw(tensor: NkiTensor, mask: Array | None = None) -> Array:
    """Elements in their storage type; a live view unless gathered."""
    if _touch(tensor):
        _require_written(tensor, mask)
    return tensor.array() if tensor.gather is None else _gathered(tensor, mask)


def values(tensor: NkiTensor, mask: Array | None = None) -> Array:
    """Elements as float32, as the engines see them; integers never written read as NaN."""
    if tensor.dtype is F32 and tensor.gather is None:
        program = state.program
        if program is not None:
            tensor.storage.last = program.count
            if program.strict:
                _require_written(tensor, mask)
        return tensor.array()
    array = raw(tensor, mask)
    dtype = tensor.dtype
    if array.dtype == np.float32:
        return array
    if dtype.kind == "p":
        raise NkiError(f"a tile of packed type {dtype.name} cannot be an operand of arithmetic")
    result = array.astype(np.float32)
    if dtype.kind != "f":
        flags = written(tensor)
        if flags is not None:
            result[~flags] = np.nan
    return result


def integers(tensor: NkiTensor, mask: Array | None = None) -> tuple[Array, Array | None]:
    """Exact integer elements, and which of them were written (None when all were)."""
    return raw(tensor, mask), written(tensor)


def fit(array: Array, shape: tuple[int, ...]) -> Array:
    """Reshape `array` to `shape` when it has as many elements; else leave it to broadcasting."""
    return array.reshape(shape) if array.shape != shape and array.size == math.prod(shape) else array


def out_array(dst: NkiTensor, mask: Array | None) -> Array | None:
    """The array that a float32 computation may write straight into, or None. Call `dst.mark` after reading inputs."""
    if dst.dtype is F32 and mask is None and dst.gather is None:
        dst.mark(OTHER)
        return dst.array()
    return None


def assign(
    dst: NkiTensor, array: Array, tag: int = OTHER, mask: Array | None = None, valid: Array | None = None
) -> None:
    """Cast and write `array` (float32 or exact integers) to `dst`.

    Elements outside `mask` stay. Elements not `valid`, and NaN cast to integers, count as never written.
    """
    dtype = dst.dtype
    array = fit(array, dst.shape)
    if dtype.kind in "iu" and array.dtype.kind == "f":
        nan = np.isnan(array)
        if nan.any():
            valid = ~nan if valid is None else fit(valid, dst.shape) & ~nan
    store(dst, cast(array, dtype), tag, mask, valid)


def store(
    dst: NkiTensor, array: Array, tag: int = OTHER, mask: Array | None = None, valid: Array | None = None
) -> None:
    """Write elements already in storage type; arguments as in `assign`."""
    array = fit(array, dst.shape)
    if dst.gather is not None:
        _scatter(dst, array, tag, mask)
        return
    if mask is None:
        if valid is None:
            dst.mark(tag)
            dst.array()[...] = array
            return
        dst.storage.tracked = True
        dst.mark(tag)
        dst.array()[...] = array
        dst.tag_array()[~np.broadcast_to(fit(valid, dst.shape), dst.shape)] = NONE
        return
    where = np.broadcast_to(mask, dst.shape)
    target = dst.array()
    if where.all():
        store(dst, array, tag, None, valid)
        return
    storage = dst.storage
    if storage.immutable is not None:
        raise NkiError(f"Cannot update immutable parameter `{storage.immutable}`")
    _touch(dst)
    storage.first = storage.first or storage.last
    storage.filled = storage.dirty = True
    if storage.uniform != tag and storage.tracked:
        dst.tag_array()[where] = tag
    elif storage.uniform == NONE:
        storage.uniform = MIXED
    np.copyto(target, array, where=where)
    if valid is not None and dst.storage.tracked:
        dst.tag_array()[where & ~np.broadcast_to(fit(valid, dst.shape), dst.shape)] = NONE


def _scatter(dst: NkiTensor, array: Array, tag: int, mask: Array | None) -> None:
    gather = dst.gather
    assert gather is not None
    _require_inside(dst, mask)
    storage = dst.storage
    if storage.immutable is not None:
        raise NkiError(f"Cannot update immutable parameter `{storage.immutable}`")
    if storage.uniform == NONE and not storage.filled:
        storage.poison()
    _touch(dst)
    storage.first = storage.first or storage.last
    storage.dirty = True
    keep = np.ones(dst.shape, bool) if mask is None else np.broadcast_to(mask, dst.shape)
    if gather.inside is not None:
        keep = keep & gather.inside
    flat = np.broadcast_to(gather.flat, dst.shape)[keep]
    storage.bytes.view(dst.dtype.np)[flat] = np.broadcast_to(array, dst.shape)[keep]
    if storage.uniform != tag and storage.tracked and storage.unit == dst.dtype.itemsize:
        storage.materialize()[flat] = tag
    elif storage.uniform == NONE:
        storage.uniform = MIXED


def copy(dst: NkiTensor, src: NkiTensor, tag: int = OTHER, mask: Array | None = None) -> None:
    """Copy elements: bit by bit for equal types, else by way of float32. Never-written integers stay so."""
    src_mask = None if mask is None or src.size != dst.size else mask
    if src.dtype is dst.dtype or (src.dtype.np == dst.dtype.np and src.dtype.kind == dst.dtype.kind != "f"):
        array = raw(src, src_mask)
        valid = written(src) if src.dtype.kind != "f" else None
        if src.storage is dst.storage and src.gather is None:
            array = array.copy()
        store(dst, array, tag, mask, valid)
    else:
        assign(dst, values(src, src_mask), tag, mask)
