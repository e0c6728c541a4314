"""Plain loops that stand for what a short numpy formula cannot say."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np


def scan(data0: Any, data1: Any, initial: Any, op0: Any, op1: Any) -> Any:
    result = np.empty(data0.shape, np.float64)
    state = np.broadcast_to(np.asarray(initial, np.float64).reshape(-1), data0.shape[:1]).copy()
    for i in range(data0.shape[1]):
        state = op1(op0(data0[:, i].astype(np.float64), state), data1[:, i].astype(np.float64))
        result[:, i] = state
    return result


def segment_bounds(ids: Any) -> Any:
    """Start and end of the run of equal ids around each element of a (1, n) array; (n, -1) for id 0."""
    row = [int(v) for v in ids[0]]
    result = np.empty((1, 2, len(row)))
    for i, value in enumerate(row):
        if value == 0:
            result[0, :, i] = len(row), -1
            continue
        first = i
        while first > 0 and row[first - 1] == value:
            first -= 1
        last = i
        while last + 1 < len(row) and row[last + 1] == value:
            last += 1
        result[0, :, i] = first, last + 1
    return result


def mx_quantize(src: Any, largest_exponent: int = 8, largest: float = 448.0) -> tuple[Any, Any]:
    """float8_e4m3fn values and biased scale exponents, one 8 x 4 group at a time."""
    p, f = src.shape
    data, scales = np.empty((p, f), np.float32), np.empty((p // 8, f // 4), np.uint8)
    for g in range(p // 8):
        for c in range(f // 4):
            group = np.asarray(src[g * 8 : g * 8 + 8, c * 4 : c * 4 + 4], np.float32)
            exponent = int(np.floor(np.log2(np.abs(group).max()))) - largest_exponent
            scales[g, c] = exponent + 127
            scaled = np.clip(group / np.float32(2.0**exponent), -largest, largest)
            data[g * 8 : g * 8 + 8, c * 4 : c * 4 + 4] = scaled.astype(ml_dtypes.float8_e4m3fn)
    return data, scales


def mx_dequantize(data: Any, scales: Any) -> Any:
    factor = np.exp2(scales.astype(np.float64) - 127)
    return data * np.repeat(np.repeat(factor, 8, 0), 4, 1)


def mx_matmul(stationary: Any, moving: Any) -> Any:
    """Product over partitions and lanes of quantized (K, 4M) and (K, 4N)."""
    k = stationary.shape[0]
    s = mx_dequantize(*mx_quantize(stationary)).reshape(k, -1, 4)
    m = mx_dequantize(*mx_quantize(moving)).reshape(k, -1, 4)
    return np.einsum("kiq,kjq->ij", s, m)
