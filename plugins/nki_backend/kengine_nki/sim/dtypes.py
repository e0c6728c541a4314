"""NKI data types and the casts of the hardware."""

from __future__ import annotations

from typing import Any, TypeAlias

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from .errors import NkiError

Array: TypeAlias = "NDArray[Any]"


class DType:
    """A data type: `name`, numpy storage type `np`, `itemsize` in bytes, `kind` ("f", "i", "u" or "p" for packed)."""

    __slots__ = ("high", "itemsize", "kind", "lanes", "low", "name", "np")

    def __init__(self, name: str, storage: Any, kind: str, lanes: Any = None) -> None:
        self.name, self.np, self.kind, self.lanes = name, np.dtype(storage), kind, lanes
        self.itemsize: int = int(self.np.itemsize)
        self.low, self.high = (0, 0)
        if kind in "iu":
            self.low, self.high = int(np.iinfo(self.np).min), int(np.iinfo(self.np).max)

    @property
    def dtype(self) -> Any:
        """The numpy type: numpy itself asks for this name when given an object as dtype."""
        return self.np

    @property
    def is_int(self) -> bool:
        return self.kind in "iu"

    def __eq__(self, other: object) -> bool:
        return self is other or (not isinstance(other, DType) and find_dtype(other) is self)

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"nl.{self.name}"

    def __str__(self) -> str:
        return self.name


F32 = DType("float32", np.float32, "f")
TF32 = DType("tfloat32", np.float32, "f")
BF16 = DType("bfloat16", ml_dtypes.bfloat16, "f")
F16 = DType("float16", np.float16, "f")
E4M3 = DType("float8_e4m3", ml_dtypes.float8_e4m3, "f")
E4M3FN = DType("float8_e4m3fn", ml_dtypes.float8_e4m3fn, "f")
E5M2 = DType("float8_e5m2", ml_dtypes.float8_e5m2, "f")
E8M0 = DType("float8_e8m0fnu", ml_dtypes.float8_e8m0fnu, "f")
BOOL = DType("bool_", np.uint8, "u")
INTS = [DType(n, n, n[0]) for n in ("int8", "int16", "int32", "uint8", "uint16", "uint32")]
I8, I16, I32, U8, U16, U32 = INTS
E5M2_X4 = DType("float8_e5m2_x4", np.uint32, "p", E5M2.np)
E4M3FN_X4 = DType("float8_e4m3fn_x4", np.uint32, "p", E4M3FN.np)
E2M1FN_X4 = DType("float4_e2m1fn_x4", np.uint16, "p", np.dtype(ml_dtypes.float4_e2m1fn))
DTYPES = {
    d.name: d for d in (F32, TF32, BF16, F16, E4M3, E4M3FN, E5M2, E8M0, BOOL, *INTS, E5M2_X4, E4M3FN_X4, E2M1FN_X4)
}
FP8 = (E4M3, E4M3FN, E5M2)

_KNOWN: dict[Any, DType] = {**DTYPES, "bool": BOOL, bool: BOOL, np.bool_: BOOL, float: F32, int: I32}
for _d in DTYPES.values():
    if _d.kind != "p" and _d is not TF32 and _d is not BOOL:
        _KNOWN[_d.np] = _KNOWN[_d.np.type] = _d


def find_dtype(value: Any) -> DType | None:
    """The NKI type meant by a DType, numpy type, type name, or a framework's dtype (by its name); None if unknown."""
    if isinstance(value, DType):
        return value
    try:
        found = _KNOWN.get(value)
    except TypeError:
        return None
    if found is None and value is not None and not isinstance(value, str):
        name = getattr(value, "name", None) or str(value).rpartition(".")[2]
        found = _KNOWN.get(name) if isinstance(name, str) else None
    return found


def as_dtype(value: Any) -> DType:
    """`find_dtype`, but NkiError for a type that NKI does not have."""
    found = find_dtype(value)
    if found is None:
        raise NkiError(f"dtype {value!r} is not an NKI data type: expected one of {', '.join(DTYPES)}")
    return found


def round_tf32(values: Array) -> Array:
    """Round float32 to 10 mantissa bits, to nearest even; NaN and infinity stay."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    rounded = (bits + 0xFFF + ((bits >> 13) & 1)) & np.uint32(0xFFFFE000)
    return np.where(np.isfinite(values), rounded.view(np.float32), values).astype(np.float32)


def to_int(values: Array, dtype: DType) -> Array:
    """Cast floats to integers as the hardware does: round to nearest even, saturate. NaN becomes 0."""
    wide = np.rint(values.astype(np.float64))
    wide = np.nan_to_num(np.clip(wide, dtype.low, dtype.high), nan=0.0)
    return wide.astype(dtype.np)


def cast(values: Array, dtype: DType) -> Array:
    """Cast a computed float32 array (or exact integers) to the storage type of `dtype`."""
    if dtype is F32:
        return values if values.dtype == np.float32 else values.astype(np.float32)
    if dtype.kind == "f":
        values = values if values.dtype == np.float32 else values.astype(np.float32)
        return round_tf32(values) if dtype is TF32 else values.astype(dtype.np)
    if dtype.kind == "p":
        raise NkiError(f"{dtype.name} cannot be the output of arithmetic: use nisa.quantize_mx or a copy of that type")
    if values.dtype == dtype.np:
        return values
    if values.dtype.kind == "f":
        return to_int(values, dtype)
    if values.dtype.kind == "b":
        return values.astype(dtype.np)
    return np.clip(values.astype(np.int64), dtype.low, dtype.high).astype(dtype.np)


def unpack(values: Array, dtype: DType) -> Array:
    """Unpack an array of a packed type to float32, the last axis four times as long (element 0 in the low bits)."""
    flat = np.ascontiguousarray(values)
    if dtype is E2M1FN_X4:
        nibbles = (flat[..., None] >> np.array([0, 4, 8, 12], np.uint16)) & 0xF
        lanes = nibbles.astype(np.uint8).view(dtype.lanes)
    else:
        lanes = flat[..., None].view(dtype.lanes)
    return lanes.astype(np.float32).reshape(*values.shape[:-1], values.shape[-1] * 4)


def pack(values: Array, dtype: DType) -> Array:
    """Round float32 to the lanes of a packed type and pack four along the last axis."""
    lanes = values.astype(np.float32).astype(dtype.lanes)
    grouped = lanes.reshape(*values.shape[:-1], values.shape[-1] // 4, 4)
    if dtype is E2M1FN_X4:
        codes = grouped.view(np.uint8).astype(np.uint16) & 0xF
        return (codes << np.array([0, 4, 8, 12], np.uint16)).sum(-1).astype(np.uint16)
    return np.ascontiguousarray(grouped).view(np.uint32)[..., 0]
