"""Searching, gathering and index instructions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..access import assign, fit, raw, store, values, written
from ..buffers import SBUF
from ..dtypes import F32, I32, U16, U32, Array
from ..errors import NkiError, RunFault
from ..program import current
from ..tensor import NkiTensor
from .common import count, free_size, same_layout, tile

MISSING = 0xFFFFFFFF


def _searchable(name: str, role: str, data: Any, smallest: int = 8) -> None:
    tile(name, role, data)
    size, most = free_size(data), current().chip.search_max
    if not (smallest <= size <= most):
        raise NkiError(f"{name} {role} must have {smallest} to {most} elements per partition, got {size}")


def _eight(name: str, role: str, value: Any, data: NkiTensor) -> None:
    tile(name, role, value)
    if not (free_size(value) == 8 and value.shape[0] == data.shape[0]):
        raise NkiError(f"{name} {role} must have 8 elements in {data.shape[0]} partitions, got {value.shape}")


def max8(dst: Any, src: Any, mask: Any = None) -> None:
    """dst = the 8 largest values of each partition, descending."""
    _searchable("max8", "src", src)
    _eight("max8", "dst", dst, src)
    count(current(), ("max8", "vector"), free_size(src))
    v = values(src, mask)
    v = v if mask is None else np.where(mask, v, np.float32(-np.inf))
    flat = v.reshape(v.shape[0], -1)
    top = np.partition(flat, flat.shape[1] - 8, axis=1)[:, -8:]
    assign(dst, np.sort(top, axis=1)[:, ::-1])


def nc_find_index8(dst: Any, data: Any, vals: Any, mask: Any = None) -> None:
    """dst = index of the first occurrence of each of 8 values in its partition; all ones when there is none."""
    name = "nc_find_index8"
    _searchable(name, "data", data)
    _eight(name, "vals", vals, data)
    _eight(name, "dst", dst, data)
    if dst.dtype not in (U16, U32):
        raise NkiError(f"{name} dst must be uint16 or uint32, got {dst.dtype}")
    count(current(), (name, "vector"), free_size(data))
    v, wanted = values(data, mask), values(vals).reshape(data.shape[0], 8)
    flat = v.reshape(v.shape[0], -1)
    hidden = None if mask is None else ~np.broadcast_to(mask, data.shape).reshape(flat.shape)
    result = np.empty((data.shape[0], 8), np.int64)
    for j in range(8):
        hit = flat == wanted[:, j : j + 1]
        if hidden is not None:
            hit &= ~hidden
        result[:, j] = np.where(hit.any(1), hit.argmax(1), MISSING)
    if (result == MISSING).any():
        current().warn(f"{name} vals contains values that are not in data: undefined on hardware")
    assign(dst, (result & dst.dtype.high).astype(dst.dtype.np))


def nc_match_replace8(dst: Any, data: Any, vals: Any, imm: Any, dst_idx: Any = None, mask: Any = None) -> None:
    """dst = data with the first occurrence of each of 8 values replaced by `imm`; dst_idx = where they were."""
    name = "nc_match_replace8"
    _searchable(name, "data", data, 1)
    _eight(name, "vals", vals, data)
    tile(name, "dst", dst)
    same_layout(name, "data", data, "dst", dst)
    count(current(), (name, "vector"), free_size(data))
    v = values(data, mask)
    flat = v.reshape(v.shape[0], -1).copy()
    hidden = None if mask is None else ~np.broadcast_to(mask, data.shape).reshape(flat.shape)
    wanted = values(vals).reshape(data.shape[0], 8)
    places = np.full((data.shape[0], 8), MISSING, np.int64)
    rows = np.arange(data.shape[0])
    for j in range(8):
        hit = flat == wanted[:, j : j + 1]
        if hidden is not None:
            hit &= ~hidden
        found, at = hit.any(1), hit.argmax(1)
        places[found, j] = at[found]
        flat[rows[found], at[found]] = np.float32(imm)
    if (places == MISSING).any():
        current().warn(f"{name} vals contains values that are not in data: undefined on hardware")
    assign(dst, flat.reshape(dst.shape), mask=mask)
    if dst_idx is not None:
        _eight(name, "dst_idx", dst_idx, data)
        if dst_idx.dtype not in (U16, U32):
            raise NkiError(f"{name} dst_idx must be uint16 or uint32, got {dst_idx.dtype}")
        assign(dst_idx, (places & dst_idx.dtype.high).astype(dst_idx.dtype.np))


def _indices(name: str, index: NkiTensor, limit: int) -> Array:
    numbers = raw(index).astype(np.int64)
    bad = (numbers < 0) | (numbers >= limit)
    flags = written(index)
    if flags is not None:
        raise RunFault(f"{name} index tile `{index.name}` is not fully written")
    if bad.any():
        raise RunFault(f"{name} index {numbers[bad][:1]} out of range for {limit} elements per partition")
    return numbers


def nc_n_gather(dst: Any, data: Any, indices: Any) -> None:
    """dst[p, i] = data[p, indices[p, i]], free axes flattened."""
    name = "nc_n_gather"
    for role, item in (("dst", dst), ("data", data), ("indices", indices)):
        tile(name, role, item, (SBUF,))
        if item.shape[0] != data.shape[0]:
            raise NkiError(f"{name} {role} must have {data.shape[0]} partitions, got {item.shape}")
    if indices.dtype is not U32:
        raise NkiError(f"{name} indices must be uint32, got {indices.dtype}")
    if dst.dtype is not data.dtype:
        raise NkiError(f"{name} dst dtype must match data, got {dst.dtype} and {data.dtype}")
    if free_size(dst) != free_size(indices):
        raise NkiError(
            f"{name} dst and indices must have the same number of elements per partition, got {dst.shape} and "
            f"{indices.shape}"
        )
    count(current(), (name, "gpsimd"), free_size(indices), 1, 150)
    picks = _indices(name, indices, free_size(data)).reshape(data.shape[0], -1)
    source = raw(data).reshape(data.shape[0], -1)
    flags = written(data)
    valid = None if flags is None else np.take_along_axis(flags.reshape(source.shape), picks, 1)
    store(dst, np.take_along_axis(source, picks, 1), valid=valid if data.dtype.kind != "f" else None)


def gathered_locally(src: NkiTensor, index: NkiTensor, per: int, valid_count: int | None) -> Array:
    """Elements for local_gather, shape (P, count, per): each 16 partitions use their own indices, columns first."""
    name = "local_gather"
    tile(name, "src_buffer", src, (SBUF,))
    tile(name, "index", index, (SBUF,))
    if index.dtype is not U16:
        raise NkiError(f"{name} index must be uint16, got {index.dtype}")
    if not (src.shape[0] == index.shape[0] and src.shape[0] % 16 == 0):
        raise NkiError(
            f"{name} src_buffer and index must have the same partition count, a multiple of 16, got {src.shape} and "
            f"{index.shape}"
        )
    if per not in (1, 2, 4, 8, 16, 32):
        raise NkiError(f"{name} num_elem_per_idx must be 1, 2, 4, 8, 16 or 32, got {per}")
    most = free_size(index) * 16
    total = most if valid_count is None else int(valid_count)
    if not (0 < total <= most):
        raise NkiError(f"{name} num_valid_indices must be 1 to {most}, got {total}")
    if total > 4096:
        raise NkiError(f"{name} takes at most 4096 indices per core, got {total}")
    flat = raw(src).reshape(src.shape[0], -1)
    table = raw(index).reshape(index.shape[0], -1).astype(np.int64)
    result = np.empty((src.shape[0], total, per), flat.dtype)
    for start in range(0, src.shape[0], 16):
        picks = table[start : start + 16].flatten(order="F")[:total]
        if int(picks.max()) + per > flat.shape[1]:
            raise RunFault(f"{name} index {int(picks.max())} out of range for {flat.shape[1]} elements per partition")
        result[start : start + 16] = flat[start : start + 16, picks[:, None] + np.arange(per)]
    count(current(), (name, "gpsimd"), total * per, 1, 150)
    return result


def local_gather(
    dst: Any, src_buffer: Any, index: Any, num_elem_per_idx: int = 1, num_valid_indices: int | None = None
) -> None:
    """dst = runs of num_elem_per_idx elements from the element offsets in `index`, by groups of 16 partitions."""
    tile("local_gather", "dst", dst, (SBUF,))
    picked = gathered_locally(src_buffer, index, int(num_elem_per_idx), num_valid_indices)
    if dst.dtype is not src_buffer.dtype:
        raise NkiError(f"local_gather dst dtype must match src_buffer, got {dst.dtype} and {src_buffer.dtype}")
    if not (dst.size == picked.size and dst.shape[0] == picked.shape[0]):
        raise NkiError(
            f"local_gather dst must hold {picked[0].size} elements in {picked.shape[0]} partitions, got {dst.shape}"
        )
    store(dst, fit(picked, dst.shape))


def nonzero_with_count(dst: Any, src: Any, index_offset: int = 0, padding_val: int = -1) -> None:
    """Every 16th partition of dst = indices of src's nonzero elements, padding, and their count."""
    name = "nonzero_with_count"
    if current().chip.generation < 3:
        raise NkiError(f"{name} is only supported for NeuronCore-v3 or newer")
    tile(name, "dst", dst, (SBUF,))
    tile(name, "src", src, (SBUF,))
    if src.dtype not in (F32, I32):
        raise NkiError(f"{name} src must be float32 or int32, got {src.dtype}")
    if dst.dtype is not I32:
        raise NkiError(f"{name} dst must be int32, got {dst.dtype}")
    n = free_size(src)
    if not (dst.shape[0] == src.shape[0] and free_size(dst) == n + 1):
        raise NkiError(f"{name} dst must hold {n + 1} elements in {src.shape[0]} partitions, got {dst.shape}")
    count(current(), (name, "gpsimd"), n, 1, 150)
    flat = raw(src).reshape(src.shape[0], -1)
    result = np.full((dst.shape[0], n + 1), int(padding_val), np.int32)
    for p in range(0, src.shape[0], 16):
        found = np.flatnonzero(flat[p])
        result[p, : found.size] = found + int(index_offset)
        result[p, n] = found.size
    rows = np.arange(dst.shape[0]).reshape((-1,) + (1,) * (dst.ndim - 1)) % 16 == 0
    store(dst, fit(result, dst.shape), mask=np.broadcast_to(rows, dst.shape))


def bounds_of_segments(ids: Array) -> tuple[Array, Array]:
    """(start, end) of the run of equal ids that each element belongs to; (n, -1) for id 0."""
    n = ids.size
    changes: Array = np.flatnonzero(ids[1:] != ids[:-1]) + 1
    starts = np.concatenate([[0], changes])
    ends = np.concatenate([changes, [n]])
    run: Array = np.repeat(np.arange(starts.size), ends - starts)
    return np.where(ids == 0, n, starts[run]), np.where(ids == 0, -1, ends[run])


def sequence_bounds(dst: Any, segment_ids: Any) -> None:
    """dst (1, 2, n) = start and end of each element's segment."""
    name = "sequence_bounds"
    tile(name, "dst", dst)
    tile(name, "segment_ids", segment_ids)
    if segment_ids.shape[0] != 1:
        raise NkiError(f"{name} segment_ids must have 1 partition, got {segment_ids.shape}")
    for role, item in (("dst", dst), ("segment_ids", segment_ids)):
        if item.dtype not in (F32, I32):
            raise NkiError(f"{name} {role} must be float32 or int32, got {item.dtype}")
    n = free_size(segment_ids)
    if not (dst.shape[0] == 1 and dst.size == 2 * n):
        raise NkiError(f"{name} dst must have shape (1, 2, {n}), got {dst.shape}")
    count(current(), (name, "gpsimd"), n, 1, 150)
    start, end = bounds_of_segments(raw(segment_ids).reshape(-1))
    assign(dst, np.stack([start, end]).astype(np.float32).reshape(dst.shape))
