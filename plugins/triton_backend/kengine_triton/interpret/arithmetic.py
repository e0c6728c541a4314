"""bfloat16 and 8-bit arithmetic, comparison and NaN rules. Triton's interpreter computes on the raw bits.

One rounding through float32 is exact here: its 24 bits are at least 2p + 2 for every narrow format, so that rounding
twice gives what rounding once would (Figueroa, "When is double rounding innocuous?", 1995); fma goes through float64.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kengine_triton.interpret.handles import make, narrow, replace, store, values, widen

_BITWISE = (np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.left_shift, np.right_shift)


def install() -> None:
    """Replace the operators of the interpreter's builder."""
    from triton.runtime.interpreter import InterpreterBuilder as Builder

    for name, new in (
        ("binary_op", _binary),
        ("unary_op", _unary),
        ("ternary_op", _ternary),
        ("create_fma", _fma),
        ("create_erf", _widened),
        ("create_rsqrt", _widened),
    ):
        replace(Builder, name, new)
    Builder.create_clampf = _clamp
    Builder.create_minnumf = lambda self, lhs, rhs: self.binary_op(lhs, rhs, np.fmin)
    Builder.create_maxnumf = lambda self, lhs, rhs: self.binary_op(lhs, rhs, np.fmax)


def _binary(old: Any) -> Any:
    def binary_op(self: Any, lhs: Any, rhs: Any, op: Any) -> Any:
        import triton.language as tl

        if op in _BITWISE or not (narrow(lhs) or narrow(rhs)):
            result = old(self, lhs, rhs, op)
        else:
            dtype = lhs.dtype if narrow(lhs) else rhs.dtype
            data = op(values(lhs), values(rhs))
            result = make(data, dtype) if data.dtype == np.bool_ else store(data, dtype)
        if result.data.dtype == np.bool_ and result.dtype != tl.int1:
            result = make(result.data, tl.int1)
        return result

    return binary_op


def _unary(old: Any) -> Any:
    def unary_op(self: Any, arg: Any, op: Any) -> Any:
        return store(op(values(arg)), arg.dtype) if narrow(arg) else old(self, arg, op)

    return unary_op


def _ternary(old: Any) -> Any:
    def ternary_op(self: Any, lhs: Any, rhs: Any, other: Any, op: Any) -> Any:
        if op is np.where or not any(narrow(x) for x in (lhs, rhs, other)):
            return old(self, lhs, rhs, other, op)
        return store(op(values(lhs), values(rhs), values(other)), other.dtype)

    return ternary_op


def _fma(old: Any) -> Any:
    def create_fma(self: Any, x: Any, y: Any, z: Any) -> Any:
        if z.data.dtype == np.float64:
            return old(self, x, y, z)
        wide = [values(part).astype(np.float64) for part in (x, y, z)]
        data = wide[0] * wide[1] + wide[2]
        return store(data, z.dtype) if narrow(z) else make(data.astype(z.data.dtype), z.dtype.scalar)

    return create_fma


def _widened(old: Any) -> Any:
    def run(self: Any, arg: Any) -> Any:
        return store(old(self, widen(arg)).data, arg.dtype) if narrow(arg) else old(self, arg)

    return run


def _clamp(self: Any, arg: Any, low: Any, high: Any, propagate_nans: Any) -> Any:
    from triton._C.libtriton import ir

    if propagate_nans == ir.PROPAGATE_NAN.ALL:
        return self.binary_op(self.binary_op(arg, low, np.maximum), high, np.minimum)
    return self.binary_op(self.binary_op(arg, low, np.fmax), high, np.fmin)
