"""Conversions between number types, with the rounding of the chip: to nearest even, or toward zero when asked."""

from __future__ import annotations

from typing import Any

import numpy as np

from kengine_triton.interpret.formats import encode
from kengine_triton.interpret.handles import make, narrow, narrow_type, replace, values


def install() -> None:
    """Replace every conversion of the interpreter's builder."""
    from triton.runtime.interpreter import InterpreterBuilder as Builder

    replace(Builder, "cast_impl", _cast)
    replace(Builder, "create_fp_to_fp", _between_floats)


def _cast(old: Any) -> Any:
    def cast_impl(self: Any, src: Any, dst_type: Any) -> Any:
        if not (narrow(src) or narrow_type(dst_type)):
            return old(self, src, dst_type)
        return _convert(src, dst_type, toward_zero=False)

    return cast_impl


def _between_floats(old: Any) -> Any:
    def create_fp_to_fp(self: Any, src: Any, dst_type: Any, rounding_mode: Any) -> Any:
        from triton._C.libtriton import ir

        return _convert(src, dst_type, toward_zero=rounding_mode == ir.ROUNDING_MODE.RTZ)

    return create_fp_to_fp


def _convert(src: Any, dst_type: Any, toward_zero: bool) -> Any:
    from triton.runtime.interpreter import _get_np_dtype

    target = dst_type.scalar
    numbers = values(src)
    if narrow_type(target):
        wide = numbers if numbers.dtype in (np.float32, np.float64) else numbers.astype(np.float64)
        return make(encode(wide, target.name, toward_zero), target)
    dtype = _get_np_dtype(target)
    if toward_zero and dtype == np.float16:
        return make(encode(numbers, "fp16", toward_zero=True).view(np.float16), target)
    if toward_zero and dtype == np.float32 and numbers.dtype == np.float64:
        nearest = numbers.astype(np.float32)
        beyond = np.abs(nearest.astype(np.float64)) > np.abs(numbers)
        return make(np.where(beyond, np.nextafter(nearest, np.float32(0)), nearest), target)
    return make(numbers.astype(dtype), target)
