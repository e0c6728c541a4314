"""Activation functions of the scalar engine, on float32 arrays."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from .dtypes import Array

TWO_OVER_ROOT_PI = np.float32(2 / math.sqrt(math.pi))
ROOT_HALF = math.sqrt(0.5)
GELU_TANH = np.float32(math.sqrt(2 / math.pi))
ERF_STEP = 128  # table points per unit
ERF_END = 6


@lru_cache(maxsize=1)
def _erf_table() -> tuple[Array, Array]:
    points = np.arange(-ERF_END * ERF_STEP, ERF_END * ERF_STEP + 1) / ERF_STEP
    return np.array([math.erf(p) for p in points]), 2 / math.sqrt(math.pi) * np.exp(-points * points)


def erf(x: Array) -> Array:
    """Error function, to 1e-12: Taylor series of fourth order about the nearest table point."""
    wide = np.asarray(x, np.float64)
    clipped = np.nan_to_num(np.clip(wide, -ERF_END, ERF_END))
    nearest = np.rint(clipped * ERF_STEP)
    values, slopes = _erf_table()
    place = nearest.astype(np.int64) + ERF_END * ERF_STEP
    p = nearest / ERF_STEP
    d = clipped - p
    series = d * (1 + d * (-p + d * ((2 * p * p - 1) / 3 + d * (p / 2 - p * p * p / 3))))
    result = values[place] + slopes[place] * series
    return np.where(np.isnan(wide), np.nan, result).astype(np.float32)


def _normal_cdf(x: Array) -> Array:
    return np.float32(0.5) * (1 + erf(x * ROOT_HALF))


def sigmoid(x: Array) -> Array:
    return np.reciprocal(1 + np.exp(-x))


def relu(x: Array) -> Array:
    return np.maximum(x, np.float32(0))


def gelu(x: Array) -> Array:
    return x * _normal_cdf(x)


def gelu_dx(x: Array) -> Array:
    density = np.exp(np.float32(-0.5) * x * x) * np.float32(1 / math.sqrt(2 * math.pi))
    return _normal_cdf(x) + x * density


def gelu_apprx_tanh(x: Array) -> Array:
    return np.float32(0.5) * x * (1 + np.tanh(GELU_TANH * (x + np.float32(0.044715) * x * x * x)))


def gelu_apprx_sigmoid(x: Array) -> Array:
    return x * sigmoid(np.float32(1.702) * x)


def gelu_apprx_sigmoid_dx(x: Array) -> Array:
    s = sigmoid(np.float32(1.702) * x)
    return s + np.float32(1.702) * x * s * (1 - s)


def silu(x: Array) -> Array:
    return x * sigmoid(x)


def silu_dx(x: Array) -> Array:
    s = sigmoid(x)
    return s * (1 + x * (1 - s))


def softplus(x: Array) -> Array:
    return np.logaddexp(np.float32(0), x)


def mish(x: Array) -> Array:
    return x * np.tanh(softplus(x))


def erf_dx(x: Array) -> Array:
    return TWO_OVER_ROOT_PI * np.exp(-x * x)


def rsqrt(x: Array) -> Array:
    return np.reciprocal(np.sqrt(x))


def identity(x: Array) -> Array:
    return x


Activation = Callable[[Any], Any]
ACTIVATIONS: dict[str, Activation] = {
    "copy": identity, "square": np.square, "sigmoid": sigmoid, "relu": relu, "gelu": gelu, "gelu_dx": gelu_dx,
    "gelu_apprx_tanh": gelu_apprx_tanh, "gelu_apprx_sigmoid": gelu_apprx_sigmoid,
    "gelu_apprx_sigmoid_dx": gelu_apprx_sigmoid_dx, "silu": silu, "silu_dx": silu_dx, "tanh": np.tanh,
    "softplus": softplus, "mish": mish, "erf": erf, "erf_dx": erf_dx, "exp": np.exp, "log": np.log, "sin": np.sin,
    "arctan": np.arctan, "sqrt": np.sqrt, "rsqrt": rsqrt, "reciprocal": np.reciprocal, "sign": np.sign, "abs": np.abs,
}  # fmt: skip

# Inputs for which the scalar engine's approximation is valid, as (smallest, largest) magnitude; sqrt(0) is exact.
VALID_RANGE: dict[str, tuple[float, float]] = {
    "log": (2.0**-64, 2.0**64), "sqrt": (2.0**-116, 2.0**118), "rsqrt": (2.0**-87, 2.0**97),
    "reciprocal": (2.0**-42, 2.0**42), "sin": (0.0, math.pi * (1 + 1e-6)), "arctan": (0.0, math.pi / 2 * (1 + 1e-6)),
}  # fmt: skip


def outside_range(name: str, x: Array) -> Array | None:
    """Which finite inputs lie outside of the valid range of an activation; None when none does."""
    limits = VALID_RANGE.get(name)
    if limits is None or x.size == 0:
        return None
    size = np.abs(x)
    low, high = np.float32(limits[0]), np.float32(limits[1])
    if float(size.max()) <= high and float(size.min()) >= low:
        return None
    bad = (size > high) & np.isfinite(size) | (size < low)
    if name == "sqrt":
        bad &= x != 0
    return bad if bad.any() else None
