"""Matrix products: narrow operands are decoded, and float32 operands are rounded to TF32 where the chip would.

On NVIDIA `tl.dot` of float32 operands uses TF32 matrix units unless `input_precision="ieee"` is asked for, so an
interpreter that multiplies in full float32 would pass kernels that a chip computes to three digits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kengine_triton.interpret.handles import make, replace, values, widen


def install() -> None:
    """Replace the products of the interpreter's builder."""
    from triton.runtime import interpreter

    replace(interpreter.InterpreterBuilder, "create_dot", _dot)
    replace(interpreter, "_mxfp_value_handle_to_float32", _scaled_operand)


def round_to_tf32(data: Any) -> Any:
    """float32 to the nearest value with 10 mantissa bits (ties away from zero, as `cvt.rna.tf32.f32`)."""
    bits = np.ascontiguousarray(data, dtype=np.float32).view(np.uint32)
    rounded = ((bits + np.uint32(0x1000)) & np.uint32(0xFFFFE000)).view(np.float32)
    return np.where(np.isfinite(data), rounded, data)


def _dot(old: Any) -> Any:
    def create_dot(self: Any, a: Any, b: Any, d: Any, input_precision: Any, max_num_imprecise_acc: Any) -> Any:
        import triton.language as tl
        from triton._C.libtriton import ir

        lhs, rhs = widen(a), widen(b)
        if a.dtype.scalar == tl.float32 and input_precision == ir.INPUT_PRECISION.TF32:
            lhs, rhs = (make(round_to_tf32(x.data), tl.float32) for x in (lhs, rhs))
        if lhs.data.dtype == np.float16:
            lhs, rhs = (make(x.data.astype(np.float32), tl.float32) for x in (lhs, rhs))
        if d.data.dtype == np.float16:
            product = np.matmul(lhs.data, rhs.data) + d.data.astype(np.float32)
            return make(product.astype(np.float16), d.dtype.scalar)
        return old(self, lhs, rhs, d, input_precision, max_num_imprecise_acc)

    return create_dot


def _scaled_operand(old: Any) -> Any:
    def to_float32(handle: Any) -> Any:
        return values(handle).astype(np.float32) if handle.dtype.is_floating() else old(handle)

    return to_float32
