"""Arguments of a launch by the driver: numbers in the types of the C++ signature, arrays as addresses."""

from __future__ import annotations

import ctypes as c
import re
from collections.abc import Sequence
from typing import Any

from kengine.native.memory import find_place
from kengine.native.signature import Declared

_TYPES: dict[str, Any] = {
    "float": c.c_float, "double": c.c_double, "bool": c.c_bool, "char": c.c_int8, "int8_t": c.c_int8,
    "uint8_t": c.c_uint8, "short": c.c_int16, "int16_t": c.c_int16, "uint16_t": c.c_uint16, "int": c.c_int32,
    "int32_t": c.c_int32, "unsigned": c.c_uint32, "unsigned int": c.c_uint32, "uint32_t": c.c_uint32,
    "long": c.c_int64, "long long": c.c_int64, "int64_t": c.c_int64, "size_t": c.c_uint64, "uint64_t": c.c_uint64,
    "unsigned long": c.c_uint64, "unsigned long long": c.c_uint64, "ptrdiff_t": c.c_int64, "ssize_t": c.c_int64,
    "unsigned char": c.c_uint8, "unsigned short": c.c_uint16,
}  # fmt: skip
_SIZED = {1: c.c_int8, 2: c.c_int16, 4: c.c_int32, 8: c.c_int64}


class ArgumentError(ValueError):
    """Arguments that do not fit the signature."""


def pack(kernel: str, declared: Sequence[Declared], sizes: Sequence[int] | None, values: Sequence[Any]) -> list[Any]:
    """ctypes values of the arguments. sizes: of the compiled parameters, if the driver tells. Raises ArgumentError."""
    count = len(sizes) if sizes is not None else len(declared)
    if len(values) != count:
        wanted = ", ".join(f"{d.type} {d.name}" for d in declared)
        raise ArgumentError(f"{kernel} takes {count} arguments ({wanted}), {len(values)} given")
    made = []
    for i, value in enumerate(values):
        parameter = declared[i] if i < len(declared) else Declared("", "", False, False)
        try:
            made.append(_one(parameter, sizes[i] if sizes is not None else 0, value))
        except (TypeError, ValueError, OverflowError) as error:
            wanted = f"{parameter.type} {parameter.name}"
            raise ArgumentError(f"{kernel}: argument {i} for '{wanted}': {error}") from None
    return made


def _one(parameter: Declared, size: int, value: Any) -> Any:
    place = find_place(value)
    if place is not None:
        if not parameter.is_pointer and size not in (0, 8):
            raise TypeError(f"expected a number, got an array of {place.dtype}")
        return c.c_uint64(place.address)
    if parameter.is_pointer:
        if value is None:
            return c.c_uint64(0)
        if isinstance(value, int) and not isinstance(value, bool):
            return c.c_uint64(value)
        raise TypeError(f"expected an array, got {type(value).__name__}")
    word = re.sub(r"\b(?:const|volatile|std::)\b|::|&", " ", parameter.type)
    kind = _TYPES.get(" ".join(word.split()))
    if kind is not None:
        return kind(float(value) if kind in (c.c_float, c.c_double) else int(value))
    if "half" in word:
        import numpy as np

        return c.c_uint16(int(np.float16(value).view(np.uint16)))
    if isinstance(value, float):
        return c.c_float(value) if size == 4 else c.c_double(value)
    if size not in _SIZED:
        raise TypeError(f"the type {parameter.type!r} of {size} bytes cannot be passed")
    return _SIZED[size](int(value))
