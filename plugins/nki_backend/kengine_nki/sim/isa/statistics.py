"""Mean and variance instructions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..access import assign, values
from ..errors import NkiError
from ..program import current
from .common import count, free_size, tile


def bn_stats(dst: Any, data: Any, mask: Any = None) -> None:
    """dst (P, 6) = count, mean and variance x count of the even elements, then of the odd ones."""
    tile("bn_stats", "dst", dst)
    tile("bn_stats", "data", data)
    program = current()
    size = free_size(data)
    if size > program.chip.bn_stats_max:
        raise NkiError(
            f"bn_stats data has {size} elements per partition, more than bn_stats_fmax={program.chip.bn_stats_max}"
        )
    if not (dst.shape[0] == data.shape[0] and free_size(dst) == 6):
        raise NkiError(f"bn_stats dst must have 6 elements in {data.shape[0]} partitions, got {dst.shape}")
    count(program, ("bn_stats", "vector"), size)
    v = values(data, mask).reshape(data.shape[0], -1).astype(np.float64)
    keep = np.ones(v.shape, bool) if mask is None else np.broadcast_to(mask, data.shape).reshape(v.shape)
    columns = []
    for start in (0, 1):
        half, on = v[:, start::2], keep[:, start::2]
        number = on.sum(1)
        mean = np.where(on, half, 0).sum(1) / np.maximum(number, 1)
        spread = (np.where(on, half - mean[:, None], 0) ** 2).sum(1)
        columns += [number, mean, spread]
    assign(dst, np.stack(columns, 1).astype(np.float32))


def bn_aggr(dst: Any, data: Any) -> None:
    """dst (P, 2) = mean and variance from (count, mean, variance x count) triples."""
    tile("bn_aggr", "dst", dst)
    tile("bn_aggr", "data", data)
    size = free_size(data)
    if size % 3 != 0:
        raise NkiError(f"bn_aggr data must hold triples, got {size} elements per partition")
    if not (dst.shape[0] == data.shape[0] and free_size(dst) == 2):
        raise NkiError(f"bn_aggr dst must have 2 elements in {data.shape[0]} partitions, got {dst.shape}")
    count(current(), ("bn_aggr", "vector"), size, 13 / 3)
    v = values(data).reshape(data.shape[0], -1, 3).astype(np.float64)
    number, means, spread = v[..., 0], v[..., 1], v[..., 2]
    total = number.sum(1)
    mean = (number * means).sum(1) / total
    variance = (spread + number * (means - mean[:, None]) ** 2).sum(1) / total
    assign(dst, np.stack([mean, variance], 1).astype(np.float32))
