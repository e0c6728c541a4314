"""Arguments and results as nested Python values with arrays of torch or numpy in them, seen without importing torch."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from kengine.array import ITEMSIZE


def is_torch(value: Any) -> bool:
    """Whether this is a torch tensor (false in a process without torch)."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def is_array(value: Any) -> bool:
    """Whether this is a torch tensor, a numpy array, or a numpy scalar."""
    return isinstance(value, (np.ndarray, np.generic)) or is_torch(value)


def numpy_dtype(name: str) -> Any:
    """The numpy dtype of this name; bfloat16 and fp8 through ml_dtypes."""
    if name.startswith(("bfloat", "float8")):
        import ml_dtypes

        return np.dtype(getattr(ml_dtypes, name))
    return np.dtype(name)


def dtype_name(array: Any) -> str:
    """Name of an array's dtype (`float32`), the same for torch and numpy."""
    return str(array.dtype).removeprefix("torch.")


def is_float(array: Any) -> bool:
    """Whether an array's dtype is a real floating-point one."""
    return dtype_name(array).startswith(("float", "bfloat"))


def known_dtype(array: Any) -> bool:
    """Whether arrays of this dtype can cross a process border."""
    return dtype_name(array) in ITEMSIZE


def map_leaves(function: Callable[[Any], Any], value: Any) -> Any:
    """Rebuild nested lists, tuples and dicts with `function` applied to every array in them."""
    if is_array(value):
        return function(value)
    if isinstance(value, dict):
        return {k: map_leaves(function, v) for k, v in value.items()}
    if isinstance(value, list):
        return [map_leaves(function, v) for v in value]
    if isinstance(value, tuple):
        return tuple(map_leaves(function, v) for v in value)
    return value


def arrays(value: Any) -> Iterator[Any]:
    """Every array in a nested value, depth first."""
    if is_array(value):
        yield value
    elif isinstance(value, dict):
        for v in value.values():
            yield from arrays(v)
    elif isinstance(value, (list, tuple)):
        for v in value:
            yield from arrays(v)


def element_strides(array: Any) -> tuple[int, ...]:
    """Strides in elements, of either framework."""
    if is_torch(array):
        return tuple(array.stride())
    return tuple(s // array.dtype.itemsize for s in array.strides)


def shape_of(array: Any) -> tuple[int, ...]:
    """Shape as plain integers."""
    return tuple(int(n) for n in array.shape)
