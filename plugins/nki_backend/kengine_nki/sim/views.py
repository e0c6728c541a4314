"""View methods of the new generation's tensors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .access import raw
from .buffers import NONE
from .dtypes import as_dtype
from .errors import NkiError, Unsupported, check
from .tensor import Gather, NkiTensor, row_major


def infer(shape: tuple[int, ...], size: int) -> tuple[int, ...]:
    """Replace one -1 in `shape` so that it holds `size` elements. NkiError if it cannot."""
    shape = tuple(int(n) for n in shape)
    if shape.count(-1) == 1:
        known = -math.prod(shape)
        if not (known and size % known == 0):
            raise NkiError(f"cannot reshape {size} elements into shape {shape}")
        shape = tuple(size // known if n == -1 else n for n in shape)
    return shape


def merged_strides(shape: tuple[int, ...], strides: tuple[int, ...], new: tuple[int, ...]) -> tuple[int, ...] | None:
    """Strides that show the elements of (shape, strides), row-major, in shape `new`; None if no view can."""
    old = [(n, s) for n, s in zip(shape, strides) if n != 1]
    result, i = [0] * len(new), 0
    j = 0
    while j < len(new) or i < len(old):
        if j < len(new) and new[j] == 1:
            result[j], j = 1, j + 1
            continue
        if i >= len(old) or j >= len(new):
            return None
        i2, j2, a, b = i + 1, j + 1, old[i][0], new[j]
        while a != b:
            if a < b:
                if i2 >= len(old):
                    return None
                if old[i2 - 1][1] != old[i2][0] * old[i2][1]:
                    return None
                a, i2 = a * old[i2][0], i2 + 1
            else:
                if j2 >= len(new):
                    return None
                b, j2 = b * new[j2], j2 + 1
        step = old[i2 - 1][1]
        for k in range(j2 - 1, j - 1, -1):
            result[k] = step
            step *= new[k]
        i, j = i2, j2
    return tuple(result)


def _check_dim(tensor: NkiTensor, dim: int, name: str, free: bool = True) -> int:
    if not isinstance(dim, (int, np.integer)):
        raise NkiError(f"{name} dim must be an integer, got {dim!r}")
    if not (0 <= dim < tensor.ndim):
        raise NkiError(f"{name} dim {dim} out of range for a tensor with {tensor.ndim} dimensions")
    if free and tensor.on_chip and dim == 0:
        raise NkiError(f"{name} cannot change the partition dimension (dim 0)")
    return int(dim)


def _plain(tensor: NkiTensor, name: str) -> None:
    if tensor.gather is not None:
        raise Unsupported(f"NkiTensor.{name} of an indirect view")


def reshape(tensor: NkiTensor, shape: Any) -> Any:
    """The same elements in another shape, without a copy. NkiError if counts differ or the layout forbids it."""
    shape = infer((shape,) if isinstance(shape, int) else tuple(shape), tensor.size)
    if math.prod(shape) != tensor.size:
        raise NkiError(
            f"reshape requires the same number of elements, got {tensor.shape} ({tensor.size}) -> {shape} "
            f"({math.prod(shape)})"
        )
    if tensor.on_chip and shape[0] != tensor.shape[0]:
        raise NkiError(f"reshape cannot change the partition dimension: {tensor.shape} -> {shape}")
    _plain(tensor, "reshape")
    strides = merged_strides(tensor.shape, tensor.strides, shape)
    if strides is None:
        raise NkiError(f"reshape {tensor.shape} -> {shape} is not possible without a copy: the view is not contiguous")
    return tensor.make(tensor.offset, shape, strides)


def permute(tensor: NkiTensor, dims: Any) -> Any:
    dims = tuple(int(d) for d in dims)
    if sorted(dims) != list(range(tensor.ndim)):
        raise NkiError(f"permute dims {dims} is not a permutation of {tensor.ndim} dims")
    if not (not tensor.on_chip or dims[0] == 0):
        raise NkiError(f"permute cannot move the partition dimension, got dims={dims}")
    _plain(tensor, "permute")
    return tensor.make(tensor.offset, tuple(tensor.shape[d] for d in dims), tuple(tensor.strides[d] for d in dims))


def broadcast(tensor: NkiTensor, dim: int, size: int) -> Any:
    dim = _check_dim(tensor, dim, "broadcast")
    if tensor.shape[dim] != 1:
        raise NkiError(f"broadcast dim {dim} must have size 1, got {tensor.shape[dim]}")
    _plain(tensor, "broadcast")
    shape, strides = list(tensor.shape), list(tensor.strides)
    shape[dim], strides[dim] = int(size), 0
    return tensor.make(tensor.offset, tuple(shape), tuple(strides))


def expand_dim(tensor: NkiTensor, dim: int) -> Any:
    if not (0 <= dim <= tensor.ndim):
        raise NkiError(f"expand_dim dim {dim} out of range for a tensor with {tensor.ndim} dimensions")
    check(not (tensor.on_chip and dim == 0), "expand_dim cannot insert before the partition dimension (dim 0)")
    shape, strides, gather = tensor.shape, tensor.strides, tensor.gather
    if gather is not None:
        inside = None if gather.inside is None else np.expand_dims(gather.inside, dim)
        gather = Gather(np.expand_dims(gather.flat, dim), inside, gather.problem, gather.masked)
    return tensor.make(
        tensor.offset, (*shape[:dim], 1, *shape[dim:]), (*strides[:dim], 1, *strides[dim:]), gather=gather
    )


def squeeze_dim(tensor: NkiTensor, dim: int) -> Any:
    dim = _check_dim(tensor, dim, "squeeze_dim")
    if tensor.shape[dim] != 1:
        raise NkiError(f"squeeze_dim dim {dim} must have size 1, got {tensor.shape[dim]}")
    _plain(tensor, "squeeze_dim")
    return tensor.make(
        tensor.offset, tensor.shape[:dim] + tensor.shape[dim + 1 :], tensor.strides[:dim] + tensor.strides[dim + 1 :]
    )


def reshape_dim(tensor: NkiTensor, dim: int, shape: Any) -> Any:
    dim = _check_dim(tensor, dim, "reshape_dim", free=len(tuple(shape)) != 1)
    size = tensor.shape[dim]
    shape = infer(tuple(shape), size)
    if math.prod(shape) != size:
        raise NkiError(f"reshape_dim cannot split dimension {dim} of size {size} into {shape}")
    _plain(tensor, "reshape_dim")
    inner = tuple(s * tensor.strides[dim] for s in row_major(shape))
    return tensor.make(
        tensor.offset,
        (*tensor.shape[:dim], *shape, *tensor.shape[dim + 1 :]),
        (*tensor.strides[:dim], *inner, *tensor.strides[dim + 1 :]),
    )


def flatten_dims(tensor: NkiTensor, start_dim: int, end_dim: int) -> Any:
    if not (0 <= start_dim <= end_dim < tensor.ndim):
        raise NkiError(f"flatten_dims({start_dim}, {end_dim}) out of range for a tensor with {tensor.ndim} dimensions")
    check(not (tensor.on_chip and start_dim == 0 and end_dim), "flatten_dims cannot merge the partition dimension")
    _plain(tensor, "flatten_dims")
    part = slice(start_dim, end_dim + 1)
    merged = math.prod(tensor.shape[part])
    strides = merged_strides(tensor.shape[part], tensor.strides[part], (merged,))
    if strides is None:
        raise NkiError(f"flatten_dims({start_dim}, {end_dim}): these dimensions are not contiguous in memory")
    return tensor.make(
        tensor.offset,
        (*tensor.shape[:start_dim], merged, *tensor.shape[end_dim + 1 :]),
        (*tensor.strides[:start_dim], *(strides or ()), *tensor.strides[end_dim + 1 :]),
    )


def rearrange(tensor: NkiTensor, src_pattern: Any, dst_pattern: Any, fixed_sizes: Any = None) -> Any:
    """Split, reorder and merge named dimensions; patterns are tuples of names or tuples of names."""
    sizes: dict[str, int] = dict(fixed_sizes or {})
    if len(src_pattern) != tensor.ndim:
        raise NkiError(f"rearrange pattern {src_pattern} does not name {tensor.ndim} dimensions")
    names: list[str] = []
    view, at = tensor, 0
    for dim, entry in enumerate(src_pattern):
        group = (entry,) if isinstance(entry, str) else tuple(entry)
        size = tensor.shape[dim]
        unknown = [n for n in group if n not in sizes]
        if len(unknown) > 1:
            raise NkiError(f"rearrange cannot infer the sizes of {unknown}: pass them in fixed_sizes")
        if unknown:
            sizes[unknown[0]] = size // math.prod(sizes[n] for n in group if n != unknown[0])
        parts = tuple(sizes[n] for n in group)
        if math.prod(parts) != size:
            raise NkiError(f"rearrange: sizes {parts} of {group} do not make dimension {dim} of {size}")
        view = reshape_dim(view, at, parts) if len(group) > 1 else view
        names += group
        at += len(group)
    groups = [(e,) if isinstance(e, str) else tuple(e) for e in dst_pattern]
    order = [n for g in groups for n in g]
    if sorted(order) != sorted(names):
        raise NkiError(f"rearrange patterns name different dimensions: {names} and {order}")
    view = permute(view, tuple(names.index(n) for n in order))
    for dim, group in enumerate(groups):
        if len(group) > 1:
            view = flatten_dims(view, dim, dim + len(group) - 1)
    return view


def view_as(tensor: NkiTensor, dtype: Any) -> Any:
    """The same bytes as another type; the last dimension scales with the item size."""
    new, old = as_dtype(dtype), tensor.dtype
    _plain(tensor, "view")
    check(tensor.strides[-1] == 1 or tensor.shape[-1] == 1, "view requires the last dimension to be contiguous")
    last = tensor.shape[-1] * old.itemsize
    if not (last % new.itemsize == 0 and tensor.offset * old.itemsize % new.itemsize == 0):
        raise NkiError(f"view as {new} needs a last dimension divisible by {new.itemsize} bytes, got {last}")
    strides = []
    for stride in tensor.strides[:-1]:
        if stride * old.itemsize % new.itemsize != 0:
            raise NkiError(f"view as {new}: stride {stride} of {old} is not aligned")
        strides.append(stride * old.itemsize // new.itemsize)
    if tensor.storage.uniform == NONE:
        tensor.storage.tracked = True
    return type(tensor)(
        tensor.storage, new, tensor.offset * old.itemsize // new.itemsize,
        (*tensor.shape[:-1], last // new.itemsize), (*strides, 1), tensor.par, None, tensor.irregular,
    )  # fmt: skip


def scalar_index(value: Any) -> int:
    """An index held by a register, a one-element tensor or an int."""
    if isinstance(value, NkiTensor):
        if value.size != 1:
            raise NkiError(f"a dynamic index must hold one element, got shape {value.shape}")
        return int(raw(value).reshape(-1)[0])
    return int(value.__index__())


def indirect_rows(tensor: NkiTensor, rows: Any, dim: int, rest: tuple[tuple[int, int], ...], base: int) -> Any:
    """Gather plan: row `rows[p]` of `dim` for each p, then the (stride, count) pairs of `rest`."""
    picks = raw(rows).reshape(-1).astype(np.int64)
    size, stride = tensor.shape[dim], tensor.strides[dim]
    shape = (picks.size, *(count for _, count in rest))
    column = (-1,) + (1,) * len(rest)
    flat = base + (picks * stride).reshape(column)
    for axis, (step, count) in enumerate(rest):
        flat = flat + (np.arange(count) * step).reshape([-1 if i == axis + 1 else 1 for i in range(len(shape))])
    inside = ((picks >= 0) & (picks < size)).reshape(column)
    problem = ""
    if not inside.all():
        worst = picks[~inside.reshape(-1)][0]
        problem = (
            f"Out-of-bound access for tensor `{tensor.name}` on dimension {dim}: index {worst} exceed dimension "
            f"size of {size}"
        )
    plan = Gather(flat, None if inside.all() else np.broadcast_to(inside, shape), problem, False)
    return tensor.make(tensor.offset, shape, row_major(shape), gather=plan)
