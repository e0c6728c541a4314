"""Small helpers over the interpreter's values: which ones are narrow floats, widening them, putting results back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kengine_triton.interpret.formats import NARROW, decode, encode

Handle = Any
"""A `triton.runtime.interpreter.TensorHandle`: numpy data beside the Triton type of one element."""


def narrow(handle: Handle) -> bool:
    """Whether a value holds raw bits of bfloat16 or an 8-bit float (a comparison's result does not)."""
    return narrow_type(handle.dtype) and handle.data.dtype.kind == "u"


def narrow_type(dtype: Any) -> bool:
    """Whether a Triton type is one that the interpreter keeps as raw bits."""
    return dtype.scalar.name in NARROW


def make(data: Any, dtype: Any) -> Handle:
    """A value of `dtype` around numpy data."""
    from triton.runtime.interpreter import TensorHandle

    return TensorHandle(data, dtype)


def values(handle: Handle) -> Any:
    """The numbers of a value: float32 for narrow floats, the data itself for everything else."""
    return decode(handle.data, handle.dtype.scalar.name) if narrow(handle) else handle.data


def widen(handle: Handle) -> Handle:
    """The same numbers in float32 if the value is a narrow float, else the value."""
    import triton.language as tl

    return make(values(handle), tl.float32) if narrow(handle) else handle


def store(data: Any, dtype: Any) -> Handle:
    """A narrow value of `dtype` from numbers."""
    return make(encode(data, dtype.scalar.name), dtype.scalar)


def replace(owner: Any, name: str, make_new: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    """Replace a method by one made from it; does nothing where this Triton has no such method."""
    old = getattr(owner, name, None)
    if old is not None:
        setattr(owner, name, make_new(old))


def quiet(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function without numpy's warnings: overflow, division by zero and NaN are ordinary values on a chip."""

    def run(*args: Any, **kwargs: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*args, **kwargs)

    return run
