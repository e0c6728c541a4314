"""Builder methods that raise, warn or answer wrongly for reasons of their own."""

from __future__ import annotations

from typing import Any

import numpy as np

from kengine_triton.interpret.handles import make, replace


def install() -> None:
    """Quieten numpy over ordinary overflow and NaN, and mend what only some versions of Triton get wrong."""
    from triton.runtime import interpreter

    np.seterr(all="ignore")
    builder = interpreter.InterpreterBuilder
    replace(builder, "create_ashr", _shift)
    replace(builder, "create_idiv", _divide)
    builder.create_umulhi = _umulhi
    replace(builder, "create_histogram", _histogram)
    replace(builder, "get_all_ones_value", _all_ones)


def _shift(old: Any) -> Any:
    def create_ashr(self: Any, lhs: Any, rhs: Any) -> Any:
        # Triton 3.3-3.6 turn the operands themselves into signed ones.
        return old(self, make(lhs.data, lhs.dtype), make(rhs.data, rhs.dtype))

    return create_ashr


def _divide(old: Any) -> Any:
    def create_idiv(self: Any, lhs: Any, rhs: Any) -> Any:
        # Division by zero is undefined on a chip; it must not stop the interpreter.
        data = np.where(rhs.data == 0, np.ones_like(rhs.data), rhs.data)
        return old(self, lhs, make(data, rhs.dtype))

    return create_idiv


def _all_ones(old: Any) -> Any:
    def get_all_ones_value(self: Any, type: Any) -> Any:
        import triton.language as tl

        return make(np.ones(1, np.bool_), tl.int1) if type.scalar == tl.int1 else old(self, type)

    return get_all_ones_value


def _umulhi(self: Any, lhs: Any, rhs: Any) -> Any:
    dtype = lhs.data.dtype
    unsigned = np.dtype(f"uint{dtype.itemsize * 8}")
    a, b = lhs.data.astype(unsigned), rhs.data.astype(unsigned)
    if dtype.itemsize < 8:
        wide = np.dtype(f"uint{dtype.itemsize * 16}")
        high = (a.astype(wide) * b.astype(wide)) >> wide.type(dtype.itemsize * 8)
    else:
        half = np.uint64(32)
        low = np.uint64(0xFFFFFFFF)
        a1, a0, b1, b0 = a >> half, a & low, b >> half, b & low
        middle = a1 * b0 + ((a0 * b0) >> half)
        high = a1 * b1 + (middle >> half) + ((a0 * b1 + (middle & low)) >> half)
    return make(high.astype(unsigned).astype(dtype), lhs.dtype.scalar)


def _histogram(old: Any) -> Any:
    def create_histogram(self: Any, data: Any, bins: int, *mask: Any) -> Any:
        import triton.language as tl

        inside = (data.data >= 0) & (data.data < bins)
        if mask and mask[0] is not None:
            inside = inside & mask[0].data
        counts = np.bincount(data.data[inside].astype(np.int64).reshape(-1), minlength=bins)
        return make(counts.astype(np.int32), tl.int32)

    return create_histogram
