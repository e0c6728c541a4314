"""Indexing with integers, slices, `nl.ds` and ellipsis, with bounds checked (numpy would clamp silently)."""

from __future__ import annotations

from typing import Any

import numpy as np

from .errors import NkiError, RunFault
from .tensor import Gather, NkiTensor, row_major
from .views import scalar_index

INT = (int, np.integer)


def ds(start: Any, size: Any) -> slice:
    """The slice of `size` elements from `start`; either may be a register."""
    first, count = scalar_index(start), scalar_index(size)
    if count <= 0:
        raise NkiError(f"ds size must be positive, got {count}")
    if first < 0:
        raise NkiError(f"ds start must not be negative, got {first}")
    return slice(first, first + count)


def out_of_bounds(tensor: NkiTensor, dim: int, low: int, high: int) -> NkiError:
    return RunFault(
        f"Out-of-bound access for tensor `{tensor.name}` on dimension {dim}: index range [{low}, {high}] exceed "
        f"dimension size of {tensor.shape[dim]}"
    )


def expand_key(tensor: NkiTensor, key: Any) -> tuple[Any, ...]:
    """The key as a tuple with one entry for each dimension, ellipsis and missing trailing dimensions filled in."""
    keys = key if isinstance(key, tuple) else (key,)
    given = sum(1 for k in keys if k is not Ellipsis)
    if given > len(tensor.shape):
        raise NkiError(
            f"too many indices for tensor `{tensor.name}`: it has {len(tensor.shape)} dimensions, got {given}"
        )
    missing = (slice(None),) * (len(tensor.shape) - given)
    for position, entry in enumerate(keys):
        if entry is Ellipsis:
            return keys[:position] + missing + keys[position + 1 :]
    return keys + missing


def bound(value: Any, default: int, size: int) -> int:
    """One end of a slice as an int, negatives counted from the end."""
    if value is None:
        return default
    end = value if type(value) is int else scalar_index(value)
    return end + size if end < 0 else end


def slice_range(tensor: NkiTensor, dim: int, entry: slice) -> tuple[int, int, int]:
    """(start, count, step) of a slice over `dim`; NkiError if it is empty, runs backwards or leaves the tensor."""
    size = tensor.shape[dim]
    step = 1 if entry.step is None else scalar_index(entry.step)
    if step < 1:
        raise NkiError(f"slice step must be positive, got {step} on dimension {dim} of tensor `{tensor.name}`")
    start, stop = bound(entry.start, 0, size), bound(entry.stop, size, size)
    if start < 0 or stop > size or start >= size:
        raise out_of_bounds(tensor, dim, start, stop - 1)
    if stop <= start:
        raise NkiError(f"empty slice [{start}:{stop}] on dimension {dim} of tensor `{tensor.name}`")
    return start, -(-(stop - start) // step), step


def index_basic(tensor: NkiTensor, key: Any) -> Any:
    """View of `tensor` for a key of ints, slices, registers and ellipsis.

    An int drops its dimension, except on chip the partition dimension, which keeps size 1; on-chip results stay at
    least 2-dimensional.
    """
    if tensor.gather is not None:
        return _index_gather(tensor, key)
    keys = expand_key(tensor, key)
    offset, shape, strides = tensor.offset, [], []
    on_chip, par = tensor.storage.region.on_chip, tensor.par
    new_par = par
    for dim, entry in enumerate(keys):
        size, stride = tensor.shape[dim], tensor.strides[dim]
        if isinstance(entry, slice):
            start, stop, step = entry.start, entry.stop, entry.step
            if start is None and stop is None and step is None:
                shape.append(size)
                strides.append(stride)
                continue
            if type(start) is int and type(stop) is int and step is None and 0 <= start < stop <= size:
                offset += start * stride
                shape.append(stop - start)
                strides.append(stride)
                continue
            start, count, step = slice_range(tensor, dim, entry)
            offset += start * stride
            shape.append(count)
            strides.append(stride * step)
            continue
        if entry is None:
            raise NkiError("None cannot index a tensor here: use expand_dim")
        if not isinstance(entry, INT) and not hasattr(entry, "__index__") and not isinstance(entry, NkiTensor):
            raise NkiError(f"cannot index tensor `{tensor.name}` with {type(entry).__name__}")
        at = scalar_index(entry)
        at += size if at < 0 else 0
        if not 0 <= at < size:
            raise out_of_bounds(tensor, dim, at, at)
        offset += at * stride
        if on_chip and dim == par:
            shape.append(1)
            strides.append(stride)
        elif dim < par:
            new_par -= 1
    if on_chip:
        while len(shape) < 2:
            shape.append(1)
            strides.append(1)
    elif not shape:
        shape, strides = [1], [1]
    return tensor.make(offset, tuple(shape), tuple(strides), max(new_par, 0))


def _index_gather(tensor: NkiTensor, key: Any) -> Any:
    gather = tensor.gather
    assert gather is not None
    keys = expand_key(tensor, key)
    for dim, entry in enumerate(keys):
        if isinstance(entry, slice):
            slice_range(tensor, dim, entry)
        else:
            raise NkiError("an indirect view can only be sliced along dimensions that take no part in the indirection")
    flat = np.broadcast_to(gather.flat, tensor.shape)[keys]
    inside = None if gather.inside is None else np.broadcast_to(gather.inside, tensor.shape)[keys]
    plan = Gather(flat, inside, gather.problem, gather.masked)
    return tensor.make(tensor.offset, flat.shape, row_major(flat.shape), gather=plan)
