"""Mathematical functions by the name that libdevice gives them, on float64 (or integer) numpy arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Array = Any
Function = Callable[..., Array]


def _torch(name: str) -> Function:
    """A function of torch or torch.special on numpy arrays."""

    def call(*args: Array) -> Array:
        import torch

        function = getattr(torch.special, name, None) or getattr(torch, name)
        return function(*(torch.from_numpy(np.ascontiguousarray(a)) for a in args)).numpy()

    return call


def _round_away(x: Array) -> Array:
    return np.copysign(np.floor(np.abs(x) + 0.5), x)


def _to_integer(rounding: Function, dtype: Any) -> Function:
    """A conversion that saturates, with 0 for NaN, as `cvt` does."""
    limits = np.iinfo(dtype)

    def convert(x: Array) -> Array:
        rounded = np.nan_to_num(rounding(x), nan=0.0, posinf=float(limits.max), neginf=float(limits.min))
        top = rounded >= float(limits.max)
        clipped = np.where(top, 0.0, np.clip(rounded, float(limits.min), float(limits.max)))
        return np.where(top, limits.max, clipped.astype(dtype))

    return convert


def _unsigned(x: Array) -> Array:
    return x.view(np.dtype(f"uint{x.dtype.itemsize * 8}"))


def _population(x: Array) -> Array:
    bits = np.unpackbits(np.ascontiguousarray(x).view(np.uint8).reshape(*x.shape, x.dtype.itemsize), axis=-1)
    return bits.sum(axis=-1).astype(np.int32)


def _leading_zeros(x: Array) -> Array:
    width = x.dtype.itemsize * 8
    value = _unsigned(x).copy()
    count = np.full(x.shape, width, np.int32)
    for _ in range(width):
        count = np.where(value != 0, count - 1, count)
        value = value >> value.dtype.type(1)
    return count


def _reverse_bits(x: Array) -> Array:
    value = _unsigned(x)
    one = value.dtype.type(1)
    result = np.zeros_like(value)
    for _ in range(x.dtype.itemsize * 8):
        result = (result << one) | (value & one)
        value = value >> one
    return result


def _first_set(x: Array) -> Array:
    lowest = _unsigned(x) & (~_unsigned(x) + _unsigned(x).dtype.type(1))
    return np.where(x == 0, 0, x.dtype.itemsize * 8 - _leading_zeros(lowest)).astype(np.int32)


def _high_product(a: Array, b: Array) -> Array:
    wide = np.array(a, object) * np.array(b, object)
    return np.array(wide >> (a.dtype.itemsize * 8), object)


def _normal(x: Array) -> Array:
    return _torch("ndtr")(x)


FUNCTIONS: dict[str, Function] = {
    "abs": np.abs, "llabs": np.abs, "fabs": np.abs, "acos": np.arccos, "acosh": np.arccosh, "asin": np.arcsin,
    "asinh": np.arcsinh, "atan": np.arctan, "atan2": np.arctan2, "atanh": np.arctanh, "cbrt": np.cbrt,
    "ceil": np.ceil, "copysign": np.copysign, "cos": np.cos, "cosh": np.cosh, "exp": np.exp, "exp2": np.exp2,
    "expm1": np.expm1, "floor": np.floor, "fmod": np.fmod, "hypot": np.hypot, "log": np.log, "log10": np.log10,
    "log1p": np.log1p, "log2": np.log2, "logb": lambda x: np.frexp(np.abs(x))[1] - 1.0,
    "ilogb": lambda x: np.frexp(np.abs(x))[1] - 1, "max": np.maximum, "min": np.minimum, "fmax": np.fmax,
    "fmin": np.fmin, "umax": np.maximum, "umin": np.minimum, "nextafter": np.nextafter, "rint": np.rint,
    "nearbyint": np.rint, "round": _round_away, "llrint": np.rint, "llround": _round_away, "sin": np.sin,
    "sinh": np.sinh, "sqrt": np.sqrt, "tan": np.tan, "tanh": np.tanh, "trunc": np.trunc, "pow": np.power,
    "powi": np.power, "pown": np.power, "ldexp": np.ldexp, "scalbn": np.ldexp, "signbit": np.signbit,
    "signbitd": np.signbit, "isinf": np.isinf, "isinfd": np.isinf, "isnan": np.isnan, "isnand": np.isnan,
    "finite": np.isfinite, "isfinited": np.isfinite, "remainder": lambda a, b: a - np.rint(a / b) * b,
    "erf": _torch("erf"), "erfc": _torch("erfc"), "erfinv": _torch("erfinv"), "erfcx": _torch("erfcx"),
    "erfcinv": lambda x: _torch("erfinv")(1.0 - x), "lgamma": _torch("gammaln"),
    "tgamma": lambda x: np.where(
        x < 0,
        np.pi / (np.sin(np.pi * x) * np.exp(_torch("gammaln")(1.0 - x))),
        np.exp(_torch("gammaln")(x)),
    ),
    "j0": _torch("bessel_j0"), "j1": _torch("bessel_j1"), "y0": _torch("bessel_y0"), "y1": _torch("bessel_y1"),
    "cyl_bessel_i0": _torch("i0"), "cyl_bessel_i1": _torch("i1"), "normcdf": _normal,
    "normcdfinv": _torch("ndtri"), "rsqrt": lambda x: 1.0 / np.sqrt(x), "rcbrt": lambda x: 1.0 / np.cbrt(x),
    "rcp64h": lambda x: 1.0 / x, "exp10": lambda x: np.power(10.0, x), "fdim": lambda a, b: np.fmax(a - b, 0.0),
    "fma": lambda a, b, c: a * b + c, "cospi": lambda x: np.cos(np.pi * np.fmod(x, 2.0)),
    "sinpi": lambda x: np.sin(np.pi * np.fmod(x, 2.0)), "saturate": lambda x: np.clip(np.nan_to_num(x), 0.0, 1.0),
    "rhypot": lambda a, b: 1.0 / np.hypot(a, b), "norm3d": lambda a, b, c: np.sqrt(a * a + b * b + c * c),
    "norm4d": lambda a, b, c, d: np.sqrt(a * a + b * b + c * c + d * d),
    "rnorm3d": lambda a, b, c: 1.0 / np.sqrt(a * a + b * b + c * c),
    "rnorm4d": lambda a, b, c, d: 1.0 / np.sqrt(a * a + b * b + c * c + d * d),
    "fdividef": np.divide, "fdivide": np.divide, "popc": _population, "popcll": _population,
    "clz": _leading_zeros, "clzll": _leading_zeros, "brev": _reverse_bits, "brevll": _reverse_bits,
    "ffs": _first_set, "ffsll": _first_set, "mulhi": _high_product, "umulhi": _high_product,
    "mul64hi": _high_product, "umul64hi": _high_product,
    "hadd": lambda a, b: (a.astype(np.int64) + b) >> 1, "uhadd": lambda a, b: (a.astype(np.int64) + b) >> 1,
    "rhadd": lambda a, b: (a.astype(np.int64) + b + 1) >> 1, "urhadd": lambda a, b: (a.astype(np.int64) + b + 1) >> 1,
    "sad": lambda a, b, c: np.abs(a.astype(np.int64) - b) + c,
    "usad": lambda a, b, c: np.abs(a.astype(np.int64) - b) + c,
}  # fmt: skip
"""Functions by their libdevice name, without the `f` of the single-precision form."""

for _name in ("sin", "cos", "tan", "exp", "exp10", "log", "log2", "log10", "pow"):
    FUNCTIONS[f"fast_{_name}"] = FUNCTIONS[_name]
FUNCTIONS["fast_fdivide"] = np.divide

_ARITHMETIC: dict[str, Function] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "sqrt": np.sqrt,
    "rcp": lambda x: 1.0 / x, "fma": lambda a, b, c: a * b + c,
}  # fmt: skip
for _name, _function in _ARITHMETIC.items():
    for _prefix in ("", "d", "f"):
        FUNCTIONS[f"{_prefix}{_name}_rn"] = _function

_ROUNDINGS: dict[str, Function] = {"rn": np.rint, "rz": np.trunc, "rd": np.floor, "ru": np.ceil}
_INTEGERS: dict[str, Any] = {"int": np.int32, "uint": np.uint32, "ll": np.int64, "ull": np.uint64}
for _mode, _rounding in _ROUNDINGS.items():
    for _kind, _dtype in _INTEGERS.items():
        for _source in ("float", "double"):
            FUNCTIONS[f"{_source}2{_kind}_{_mode}"] = _to_integer(_rounding, _dtype)
for _kind in _INTEGERS:
    for _source in ("float", "double"):
        FUNCTIONS[f"{_kind}2{_source}_rn"] = lambda x: x.astype(np.float64)
