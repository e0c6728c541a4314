"""`NkiTensor.ap`: an explicit access pattern over the storage."""

from __future__ import annotations

from typing import Any

import numpy as np

from .dtypes import as_dtype
from .errors import NkiError, RunFault, check
from .tensor import NkiTensor
from .views import indirect_rows, scalar_index


def _itemsize_scaled(tensor: NkiTensor, dtype: Any) -> tuple[Any, int, int]:
    new = as_dtype(dtype)
    old = tensor.dtype.itemsize
    return new, tensor.offset * old // new.itemsize, old


def access_pattern(
    tensor: NkiTensor,
    pattern: Any,
    offset: Any = None,
    scalar_offset: Any = None,
    vector_offset: Any = None,
    indirect_dim: int = 0,
    dtype: Any = None,
) -> Any:
    """A view with shape and strides given as [[stride, count], ...] from the view's own offset.

    `scalar_offset` adds index x stride of `indirect_dim`; `vector_offset` picks a row for each partition.
    NkiError for more than five pairs, a wrong partition step, or a reach outside of the storage.
    """
    pairs = []
    for pair in pattern:
        if len(pair) != 2:
            raise NkiError(f"ap() pattern entries are [stride, count] pairs, got {pair!r}")
        pairs.append((scalar_index(pair[0]), scalar_index(pair[1])))
    if not (pairs and len(pairs) <= 5):
        raise NkiError(f"ap() takes 1 to 5 [stride, count] pairs, got {len(pairs)}")
    check(tensor.gather is None, "ap() cannot be applied to an indirect view")
    if not all(count > 0 for _, count in pairs):
        raise NkiError(f"ap() pattern counts must be positive, got {pattern}")
    new, base, old = tensor.dtype, tensor.offset, tensor.dtype.itemsize
    if dtype is not None:
        new, base, old = _itemsize_scaled(tensor, dtype)
    base += 0 if offset is None else scalar_index(offset)
    shape, strides = tuple(c for _, c in pairs), tuple(s for s, _ in pairs)
    if tensor.on_chip:
        step = _partition_step(tensor) * old // new.itemsize
        if not (strides[0] in (step, 0) or shape[0] == 1):
            raise NkiError(
                f"ap() pattern has invalid partition stride. Partition step {strides[0]} must equal tensor free "
                f"dimension size {step}"
            )
    if scalar_offset is not None:
        if not (0 <= indirect_dim < tensor.ndim):
            raise NkiError(f"ap() indirect_dim {indirect_dim} out of range")
        index, size = scalar_index(scalar_offset), tensor.shape[indirect_dim]
        base += index * tensor.strides[indirect_dim] * old // new.itemsize
        if index < 0:
            raise NkiError(
                f"Out-of-bound access for tensor `{tensor.name}` on dimension {indirect_dim}: index {index} exceed "
                f"dimension size of {size}"
            )
    view = type(tensor)(tensor.storage, new, base, shape, strides, tensor.par, None, True)
    if vector_offset is not None:
        return indirect_rows(_with_shape(view, tensor), vector_offset, indirect_dim, tuple(pairs[1:]), base)
    limit = tensor.storage.bytes.size // new.itemsize
    low = base + sum(min(0, (c - 1) * s) for s, c in pairs)
    high = base + sum(max(0, (c - 1) * s) for s, c in pairs)
    if not (low >= 0 and high < limit):
        raise RunFault(
            f"Out-of-bound access for tensor `{tensor.name}`: ap() reaches elements [{low}, {high}] of {limit}"
        )
    _check_free_reach(tensor, base, pairs, old, new.itemsize)
    if _is_regular(view):
        view.irregular = False
    return view


def _with_shape(view: NkiTensor, tensor: NkiTensor) -> Any:
    """`view` with the shape and strides of `tensor`, for the bounds of an indirect dimension."""
    return type(view)(view.storage, view.dtype, view.offset, tensor.shape, tensor.strides, view.par, None, True)


def _partition_step(tensor: NkiTensor) -> int:
    storage = tensor.storage
    return storage.per_partition // tensor.dtype.itemsize


def _check_free_reach(tensor: NkiTensor, base: int, pairs: list[tuple[int, int]], old: int, new: int) -> None:
    """On chip, the free part of a pattern may not run from one partition into the next."""
    if not tensor.on_chip:
        return
    row = tensor.storage.per_partition // new
    start = base % row
    low = start + sum(min(0, (c - 1) * s) for s, c in pairs[1:])
    high = start + sum(max(0, (c - 1) * s) for s, c in pairs[1:])
    if not (low >= 0 and high < row):
        raise RunFault(
            f"Out-of-bound access for tensor `{tensor.name}`: ap() reaches free elements [{low}, {high}] of {row} in a "
            "partition"
        )


def _is_regular(view: NkiTensor) -> bool:
    """Whether the pattern is a permuted contiguous layout, so that it touches each element once."""
    step = 1
    for stride, count in sorted((s, c) for s, c in zip(view.strides, view.shape) if c != 1):
        if stride != step:
            return False
        step *= count
    return bool(np.prod(view.shape) == step)
