"""Narrow floating-point formats as numpy sees them: bits to values and back, rounding to nearest even.

The interpreter keeps bfloat16 and 8-bit floats as unsigned integers; arithmetic must decode, compute, encode.
Out-of-range values saturate in the 8-bit formats, as NVIDIA's `cvt.rn.satfinite` does (PTX ISA, cvt).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

Data = Any
"""A numpy array of any dtype."""


@dataclass(frozen=True)
class Format:
    """A sign bit, `exponent` and `mantissa` bits. nan: bit pattern of NaN, None when there is none.

    infinity: bit pattern of infinity, None for formats that saturate at `largest`. unsigned_zero: -0 does not exist.
    """

    exponent: int
    mantissa: int
    bias: int
    nan: int | None
    infinity: int | None
    largest: int
    unsigned_zero: bool = False
    saturates: bool = True

    @property
    def bits(self) -> int:
        """Width of one value."""
        return 1 + self.exponent + self.mantissa

    @property
    def carrier(self) -> Any:
        """The unsigned numpy dtype that holds the bits."""
        return np.dtype(f"uint{self.bits}")


FORMATS: dict[str, Format] = {
    "bf16": Format(8, 7, 127, nan=0x7FC0, infinity=0x7F80, largest=0x7F7F, saturates=False),
    "fp16": Format(5, 10, 15, nan=0x7E00, infinity=0x7C00, largest=0x7BFF, saturates=False),
    "fp8e5": Format(5, 2, 15, nan=0x7F, infinity=0x7C, largest=0x7B),
    "fp8e4nv": Format(4, 3, 7, nan=0x7F, infinity=None, largest=0x7E),
    "fp8e5b16": Format(5, 2, 16, nan=0x80, infinity=None, largest=0x7F, unsigned_zero=True),
    "fp8e4b8": Format(4, 3, 8, nan=0x80, infinity=None, largest=0x7F, unsigned_zero=True),
    "fp8e4b15": Format(4, 3, 15, nan=None, infinity=None, largest=0x7E),
}
"""Formats by Triton's name of the dtype; fp16 is here for rounding toward zero only."""

NARROW = frozenset(FORMATS) - {"fp16"}
"""Dtypes that the interpreter carries as raw bits."""


@cache
def _values(name: str) -> Data:
    """Every value of an 8-bit format as float32, indexed by its bits."""
    form = FORMATS[name]
    codes = np.arange(256)
    magnitude = codes & 0x7F
    field = magnitude >> form.mantissa
    fraction = (magnitude & ((1 << form.mantissa) - 1)).astype(np.float64)
    scale = float(1 << form.mantissa)
    values = np.where(
        field == 0,
        np.ldexp(fraction / scale, 1 - form.bias),
        np.ldexp(1.0 + fraction / scale, field - form.bias),
    )
    values = np.where(codes >= 0x80, -values, values)
    if form.infinity is not None:
        values = np.where(magnitude == form.infinity, np.where(codes >= 0x80, -np.inf, np.inf), values)
        values = np.where(magnitude > form.infinity, np.nan, values)
    elif form.unsigned_zero:
        values[0x80] = np.nan
    elif form.nan is not None:
        values = np.where(magnitude == form.nan, np.nan, values)
    return values.astype(np.float32)


def decode(bits: Data, name: str) -> Data:
    """Bits (uint16 or uint8) to float32, exactly."""
    if name == "bf16":
        return (np.ascontiguousarray(bits).astype(np.uint32) << np.uint32(16)).view(np.float32).reshape(bits.shape)
    return _values(name)[np.asarray(bits).view(np.uint8)]


def encode(values: Data, name: str, toward_zero: bool = False) -> Data:
    """float32 or float64 values to bits of the format: to nearest even, or toward zero. Keeps the shape."""
    values = np.asarray(values)
    if values.dtype == np.float16:
        values = values.astype(np.float32)
    if name == "bf16" and values.dtype == np.float32 and not toward_zero:
        return _encode_bfloat16(values)
    return _encode(values.astype(np.float64), FORMATS[name], toward_zero)


def _encode_bfloat16(values: Data) -> Data:
    word = np.ascontiguousarray(values).view(np.uint32).reshape(values.shape)
    rounded = (word + np.uint32(0x7FFF) + ((word >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)
    quiet = (word >> np.uint32(16)) | np.uint32(0x40)
    return np.where(np.isnan(values), quiet, rounded).astype(np.uint16)


def _encode(values: Data, form: Format, toward_zero: bool) -> Data:
    magnitude = np.abs(values)
    finite = np.isfinite(values)
    safe = np.where(finite, magnitude, 0.0)
    _, power = np.frexp(safe)
    power = np.maximum(power - 1, 1 - form.bias)
    steps = np.ldexp(safe, form.mantissa - power)
    steps = np.floor(steps) if toward_zero else np.rint(steps)
    code = np.where(safe == 0, 0.0, steps + (power + form.bias - 1).astype(np.float64) * (1 << form.mantissa))
    over = code > form.largest
    beyond = form.largest if form.saturates or toward_zero or form.infinity is None else form.infinity
    code = np.where(over, beyond, code)
    endless = form.largest if form.saturates or form.infinity is None else form.infinity
    code = np.where(np.isinf(values), endless, code).astype(np.int64)
    sign = np.signbit(values).astype(np.int64) << (form.bits - 1)
    if form.unsigned_zero:
        sign = np.where(code == 0, 0, sign)
    result = code | sign
    if form.nan is not None:
        result = np.where(np.isnan(values), form.nan, result)
    return result.astype(form.carrier)
