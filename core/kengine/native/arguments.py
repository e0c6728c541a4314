"""Arguments of a launch, matched with the C++ signature."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kengine.native.memory import Place, Staging, find_place

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kengine.simt import Parameter

_WORDS = {
    "f2": "half", "f4": "float", "f8": "double", "bf16": "bfloat16", "b1": "bool", "i1": "int8", "i2": "short",
    "i4": "int", "i8": "long long", "u1": "uint8", "u2": "unsigned short", "u4": "unsigned int",
    "u8": "unsigned long long", "v": "struct",
}  # fmt: skip
_FLOATS = {"float16": "f2", "float32": "f4", "float64": "f8", "bfloat16": "bf16"}


_NUMPY = {code: name for name, code in _FLOATS.items()}


class ArgumentError(ValueError):
    """Arguments that do not fit the signature: how many, or which and why."""


def match(
    name: str, parameters: Sequence[Parameter], values: Sequence[Any], staging: Staging, strict: bool
) -> tuple[Any, ...]:
    """Arguments as the emulator takes them: addresses for pointers, numbers and bytes for the rest.

    strict: as a driver would copy them, by size; see `Module.launch`. Raises ArgumentError.
    """
    if len(parameters) != len(values):
        wanted = ", ".join(f"{word(p)} {p.name}" for p in parameters)
        raise ArgumentError(f"{name} takes {len(parameters)} arguments ({wanted}), {len(values)} given")
    made = []
    for position, (parameter, value) in enumerate(zip(parameters, values)):
        try:
            made.append(_one(parameter, value, staging, strict))
        except ArgumentError as error:
            wanted = f"{word(parameter)} {parameter.name}"
            raise ArgumentError(f"{name}: argument {position} for '{wanted}': {error}") from None
    return tuple(made)


def word(parameter: Parameter) -> str:
    """A parameter's type for a message."""
    kind = _WORDS.get(parameter.code, parameter.code)
    return f"{'const ' if parameter.is_const else ''}{kind}{'*' if parameter.is_pointer else ''}"


def _one(parameter: Parameter, value: Any, staging: Staging, strict: bool) -> Any:
    place = find_place(value)
    if parameter.is_pointer:
        if place is not None:
            return _pointer(parameter, place, staging)
        if value is None:
            return 0
        if isinstance(value, int) and not isinstance(value, bool):
            return staging.raw(value, parameter.name)
        if hasattr(value, "dtype") and getattr(value, "ndim", 1) == 0 and value.dtype.kind in "iu":
            return staging.raw(int(value), parameter.name)
        raise ArgumentError(f"expected an array, got {_kind(value)}")
    if place is not None:
        if not strict or getattr(value, "size", 2) != 1 or not _is_plain_numpy(value):
            raise ArgumentError(f"expected a number, got an array of {place.dtype}")
        value = value.reshape(())[()]  # numpy arrays of one element are passed by value
    return _scalar(parameter, value) if strict else value


def _pointer(parameter: Parameter, place: Place, staging: Staging) -> int:
    given = _FLOATS.get(place.dtype)
    if given and parameter.code in _FLOATS.values() and given != parameter.code:
        raise ArgumentError(f"the array is of {place.dtype}")
    return staging.address(place, parameter.name)


def _scalar(parameter: Parameter, value: Any) -> Any:
    """A number as a driver copies it: `parameter.size` bytes from where it lies. Raises ArgumentError when these are
    not its value."""
    import numpy as np

    if isinstance(value, (bytes, bytearray)) or parameter.code == "v":
        return value
    if not isinstance(value, (bool, int, float, np.generic)):
        raise ArgumentError(f"expected a number, got {_kind(value)}")
    is_float = parameter.code in _FLOATS.values()
    wanted = _WORDS.get(parameter.code, parameter.code)
    if isinstance(value, np.generic):
        given, size = value.dtype.name, value.dtype.itemsize
        fits = _FLOATS.get(given) == parameter.code if is_float else value.dtype.kind in "iub"
        if not fits or size < parameter.size:
            raise ArgumentError(f"a numpy.{given} of {size} bytes is passed, the kernel reads {wanted}")
        return value.item() if given != "bfloat16" else float(value)
    if isinstance(value, float):
        if parameter.code != "f8":
            raise ArgumentError(
                "a Python float is passed as 8 bytes of double, which the kernel would misread; "
                f"pass numpy.{_NUMPY.get(parameter.code, 'int32')}(...)"
            )
        return value
    if is_float:
        raise ArgumentError("a Python int is passed as 8 bytes of integer, which the kernel would misread; "
                            "pass numpy.float32(...) or the like")  # fmt: skip
    return bool(value) if parameter.code == "b1" else int(value)


def _is_plain_numpy(value: Any) -> bool:
    import numpy as np

    from kengine.native.cupy.arrays import ndarray

    return isinstance(value, np.ndarray) and not isinstance(value, ndarray)


def _kind(value: Any) -> str:
    return f"{type(value).__module__}.{type(value).__name__}".removeprefix("builtins.")
