"""Indexing of old-generation tensors with grids, arrays and tiles."""

from __future__ import annotations

from typing import Any

import numpy as np

from .access import raw
from .errors import NkiError
from .grids import Grid
from .indexing import INT, bound, expand_key, index_basic, out_of_bounds, slice_range
from .tensor import Gather, NkiTensor, row_major


def index_old(tensor: NkiTensor, key: Any) -> Any:
    """View of `tensor` for any old-generation key. Affine grids give strided views; the rest gathers."""
    keys = key if isinstance(key, tuple) else (key,)
    if not any(isinstance(k, (Grid, np.ndarray)) or (isinstance(k, NkiTensor) and k.size > 1) for k in keys):
        return index_basic(tensor, key)
    if tensor.gather is not None:
        raise NkiError("an indirect view cannot be indexed again")
    keys = expand_key(tensor, key)
    _reject_mixing(tensor, keys)
    if all(isinstance(k, (Grid, *INT)) or hasattr(k, "__index__") for k in keys):
        view = _affine(tensor, keys)
        if view is not None:
            return view
    return _gather(tensor, keys)


def _reject_mixing(tensor: NkiTensor, keys: tuple[Any, ...]) -> None:
    for dim, k in enumerate(keys):
        if isinstance(k, slice) and (k.start is not None or k.stop is not None):
            raise NkiError(
                f"mixing basic tensor indexing (slices) and advanced indexing (nl.arange) is not supported: dimension "
                f"{dim} of tensor `{tensor.name}`"
            )


def _as_grid(entry: Any, size: int, ndim: int) -> Grid:
    if isinstance(entry, Grid):
        extra = ndim - entry.ndim
        return entry if extra == 0 else Grid(entry.constant, {a + extra: t for a, t in entry.terms.items()}, ndim)
    return Grid(bound(entry, 0, size), {}, ndim)


def _affine(tensor: NkiTensor, keys: tuple[Any, ...]) -> Any:
    ndim = max(k.ndim for k in keys if isinstance(k, Grid))
    if ndim == 1 and tensor.on_chip:
        raise NkiError("1D arange is not supported for on-chip tensors: use nl.arange(...)[:, None] and [None, :]")
    offset, shape, strides = tensor.offset, [1] * ndim, [0] * ndim
    for dim, entry in enumerate(keys):
        size, stride = tensor.shape[dim], tensor.strides[dim]
        grid = _as_grid(entry, size, ndim)
        low, high = grid.span()
        if low < 0 or high >= size:
            return None
        offset += grid.constant * stride
        for axis, (count, step) in grid.terms.items():
            if shape[axis] not in (1, count):
                raise NkiError(f"index grids of tensor `{tensor.name}` do not broadcast on axis {axis}")
            shape[axis] = count
            strides[axis] += step * stride
    for axis in range(ndim):
        strides[axis] = strides[axis] if shape[axis] > 1 else 1
    view = tensor.make(offset, tuple(shape), tuple(strides), 0)
    if view.size * view.dtype.itemsize == tensor.storage.bytes.size and _overlaps(view):
        view.irregular = True
    return view


def _overlaps(view: NkiTensor) -> bool:
    step = 1
    for stride, count in sorted((abs(s), c) for s, c in zip(view.strides, view.shape) if c != 1):
        if stride < step:
            return True
        step = stride * count
    return False


def _gather(tensor: NkiTensor, keys: tuple[Any, ...]) -> Any:
    """A gather plan; affine excess is remembered, since a mask may hide it."""
    ndim = max([k.ndim for k in keys if isinstance(k, (Grid, np.ndarray, NkiTensor))])
    indices = []
    free = ndim
    total = ndim + sum(1 for k in keys if isinstance(k, slice))
    for dim, entry in enumerate(keys):
        size = tensor.shape[dim]
        if isinstance(entry, slice):
            start, count, step = slice_range(tensor, dim, entry)
            array: Any = start + np.arange(count) * step
            array = array.reshape([-1 if a == free else 1 for a in range(total)])
            free += 1
        else:
            array = _values(entry, size)
            array = array.reshape(array.shape + (1,) * (total - ndim)) if array.ndim == ndim else array
        indices.append(array)
    arrays = np.broadcast_arrays(*indices)
    flat = np.full(arrays[0].shape, tensor.offset, np.int64)
    inside = np.ones(flat.shape, bool)
    problem = ""
    for dim, array in enumerate(arrays):
        size, stride = tensor.shape[dim], tensor.strides[dim]
        ok = (array >= 0) & (array < size)
        if not ok.all() and not problem:
            problem = out_of_bounds(tensor, dim, int(array.min()), int(array.max())).message
        inside &= ok
        flat = flat + np.where(ok, array, 0) * stride
    shape = flat.shape if flat.ndim > 1 or not tensor.on_chip else (*flat.shape, 1)
    flat = flat.reshape(shape)
    plan = Gather(flat, None if not problem else inside.reshape(shape), problem, True)
    return tensor.make(tensor.offset, shape, row_major(shape), 0, gather=plan)


def _values(entry: Any, size: int) -> Any:
    if isinstance(entry, Grid):
        return entry.array()
    if isinstance(entry, NkiTensor):
        return raw(entry).astype(np.int64)
    if isinstance(entry, np.ndarray):
        if entry.dtype.kind not in "iu":
            raise NkiError(f"an index must be of integers, got {entry.dtype}")
        return entry.astype(np.int64)
    return np.array(bound(entry, 0, size), np.int64)
