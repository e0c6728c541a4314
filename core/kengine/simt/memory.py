"""Arrays to guarded memory and back, values to the types of a C++ signature."""

from __future__ import annotations

import ctypes as c
import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kengine.simt.fault import LaunchError
from kengine.simt.runtime import Runtime

if TYPE_CHECKING:
    import numpy as np

_FAST_ALIGNMENT, _CHECK_ALIGNMENT = 16, 256
_owned: dict[int, int] = {}


@dataclass(frozen=True)
class Parameter:
    """A parameter of a kernel: numpy-like type code of the value or pointee (`f4`, `i8`, `f2`, `bf16`, `v` for others),
    size in bytes of the value itself."""

    name: str
    code: str
    size: int
    is_pointer: bool
    is_const: bool
    align: int

    def __str__(self) -> str:
        return f"{'const ' if self.is_const else ''}{self.code}{'*' if self.is_pointer else ''} {self.name}".strip()


def guarded_empty(runtime: Runtime, shape: tuple[int, ...], dtype: Any, name: str, check: bool) -> np.ndarray[Any, Any]:
    """A new array in guarded memory, which launches use in place. It is freed with its last view."""
    import numpy as np

    kind = np.dtype(dtype)
    size = int(np.prod(shape, dtype=np.int64)) * kind.itemsize
    address = runtime.allocate(size, kind.itemsize, _CHECK_ALIGNMENT if check else _FAST_ALIGNMENT, 0, name)
    buffer = (c.c_char * max(size, 1)).from_address(address)
    _owned[address] = size
    weakref.finalize(buffer, _release, runtime, address)
    array: np.ndarray[Any, Any] = np.frombuffer(buffer, dtype=np.uint8, count=size).view(kind).reshape(shape)
    return array


def _release(runtime: Runtime, address: int) -> None:
    _owned.pop(address, None)
    runtime.free(address)


class Arguments:
    """The arguments of one launch: values as the signature wants them, arrays in guarded memory while it lasts."""

    def __init__(
        self, runtime: Runtime, parameters: tuple[Parameter, ...], values: tuple[Any, ...], owner: str, check: bool
    ) -> None:
        if len(parameters) != len(values):
            wanted = ", ".join(str(p) for p in parameters)
            raise LaunchError(f"{owner} takes {len(parameters)} arguments ({wanted}), {len(values)} given")
        self._runtime = runtime
        self._check = check
        self._copies: list[tuple[int, int, int, bool]] = []  # guarded address, original address, size, copy back
        self._registered: list[int] = []
        self._keep: list[Any] = []
        self._spans = self._guard(parameters, values, owner)
        self.pointers = (c.c_void_p * max(len(values), 1))()
        for i, (parameter, value) in enumerate(zip(parameters, values)):
            held = self._convert(parameter, value, owner)
            self._keep.append(held)
            self.pointers[i] = c.addressof(held)

    def _guard(
        self, parameters: tuple[Parameter, ...], values: tuple[Any, ...], owner: str
    ) -> list[tuple[int, int, int]]:
        spans: list[list[Any]] = []
        for parameter, value in zip(parameters, values):
            if not _is_array(value):
                continue
            if not parameter.is_pointer:
                if value.size == 1:
                    continue
                raise LaunchError(
                    f"{owner}: parameter '{parameter}' is no pointer, but an array of {value.size} was given"
                )
            low, high = _bounds(value)
            writes = not parameter.is_const and value.flags.writeable
            spans.append([low, high, parameter.name, value.itemsize, writes])
        merged: list[list[Any]] = []
        for span in sorted(spans, key=lambda s: (s[0], s[1])):
            if merged and span[0] < merged[-1][1]:
                last = merged[-1]
                last[1], last[3], last[4] = max(last[1], span[1]), min(last[3], span[3]), last[4] or span[4]
            else:
                merged.append(span)
        out = []
        align = _CHECK_ALIGNMENT if self._check else _FAST_ALIGNMENT
        for low, high, name, itemsize, writes in merged:
            size = high - low
            if _owned.get(low) == size and size:
                self._runtime.register(name, low, size, itemsize)
                out.append((low, high, low))
                continue
            address = self._runtime.allocate(size, itemsize, align, low % 16, name)
            c.memmove(address, low, size)
            self._copies.append((address, low, size, writes))
            out.append((low, high, address))
        return out

    def _convert(self, parameter: Parameter, value: Any, owner: str) -> Any:
        try:
            if parameter.is_pointer:
                return c.c_uint64(self._address(parameter, value, owner))
            return to_value(parameter, value)
        except (TypeError, ValueError, OverflowError) as error:
            raise LaunchError(f"{owner}: argument for '{parameter}': {error}") from None

    def _address(self, parameter: Parameter, value: Any, owner: str) -> int:
        if value is None:
            return 0
        if _is_array(value):
            low, high = _bounds(value)
            at = int(value.ctypes.data)
            for start, end, address in self._spans:
                if start <= low and high <= end:
                    return address + at - start
            return 0
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        raise TypeError(f"expected an array, an address or None, got {type(value).__name__}")

    def finish(self, copy_back: bool) -> None:
        """Give the guarded memory back, after copying what was written to the caller's arrays."""
        for address, original, size, writes in self._copies:
            if copy_back and writes:
                c.memmove(original, address, size)
            self._runtime.free(address)
        self._copies.clear()


def _is_array(value: Any) -> bool:
    return hasattr(value, "ctypes") and hasattr(value, "strides") and hasattr(value, "flags")


def _bounds(array: Any) -> tuple[int, int]:
    low = high = int(array.ctypes.data)
    if not array.size:
        return low, low
    for length, stride in zip(array.shape, array.strides):
        if stride < 0:
            low += (length - 1) * stride
        else:
            high += (length - 1) * stride
    return low, high + int(array.itemsize)


_INTEGERS = {("i", 1): c.c_int8, ("i", 2): c.c_int16, ("i", 4): c.c_int32, ("i", 8): c.c_int64,
             ("u", 1): c.c_uint8, ("u", 2): c.c_uint16, ("u", 4): c.c_uint32, ("u", 8): c.c_uint64}  # fmt: skip


def to_value(parameter: Parameter, value: Any) -> Any:
    """A ctypes value of the parameter's type. TypeError or OverflowError says what does not fit."""
    code = parameter.code
    if code == "v":
        return _to_struct(parameter, value)
    if hasattr(value, "item"):
        value = value.item()
    if code in ("f4", "f8"):
        return (c.c_float if code == "f4" else c.c_double)(float(value))
    if code == "b1":
        return c.c_bool(bool(value))
    if code == "f2":
        import numpy as np

        return c.c_uint16(int(np.float16(value).view(np.uint16)))
    if code == "bf16":
        return c.c_uint16(_bfloat16_bits(float(value)))
    if code in ("e4m3", "e5m2"):
        raise TypeError("8-bit floating values are passed by pointer only")
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int):
        raise TypeError(f"expected an integer, got {value!r}")
    bits = 8 * parameter.size
    if not -(1 << (bits - 1)) <= value < 1 << bits:
        raise OverflowError(f"{value} does not fit {bits} bits")
    return _INTEGERS[code[0], parameter.size](value)


def _bfloat16_bits(value: float) -> int:
    import struct

    bits: int = struct.unpack("<I", struct.pack("<f", value))[0]
    if value != value:
        return 0x7FFF
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16 & 0xFFFF


def _to_struct(parameter: Parameter, value: Any) -> Any:
    raw = value if isinstance(value, (bytes, bytearray)) else value.tobytes() if hasattr(value, "tobytes") else None
    if raw is None:
        raise TypeError(f"expected {parameter.size} bytes or a numpy record, got {type(value).__name__}")
    if len(raw) != parameter.size:
        raise TypeError(f"expected {parameter.size} bytes, got {len(raw)}")
    return (c.c_char * parameter.size).from_buffer_copy(bytes(raw))
