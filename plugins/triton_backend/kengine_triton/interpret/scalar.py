"""Scalars: Python numbers that behave like the compiler's constants, narrow constants, and numpy 2.4.

A literal assigned in a kernel stays a compile-time constant on a chip, with the methods of a tensor; the interpreter
turns it into a tensor, so that `half = BLOCK // 2; tl.arange(0, half)` fails there. numpy 2.4 refuses `int()` of an
array with one element but one dimension, which is how Triton 3.3-3.6 keep scalars: every `for` over a runtime bound
fails there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kengine_triton.interpret.handles import make, replace, store


def install() -> None:
    """Mend the conversion of scalars to Python numbers, and add the constants that are missing."""
    import triton.language as tl
    from triton.runtime import interpreter

    builder = interpreter.InterpreterBuilder
    builder.get_bf16 = lambda self, value: store(np.array([value], np.float32), tl.bfloat16)
    if not hasattr(builder, "get_int1_ty"):
        builder.get_int1_ty = lambda self: tl.int1
    replace(interpreter, "_patch_lang_tensor", _tensor_methods)
    replace(interpreter, "_implicit_cvt", _implicit)


class Whole(int):
    """An integer constant of a kernel: a Python int that also has what a tensor has (`to`, `dtype`, ...)."""

    def __getattr__(self, name: str) -> Any:
        return _tensor_attribute(int(self), name)


class Real(float):
    """A floating-point constant of a kernel."""

    def __getattr__(self, name: str) -> Any:
        return _tensor_attribute(float(self), name)


def constant(value: Any) -> Any:
    """What a kernel's assignment stores: numbers as constants, everything else as it is."""
    import triton.language as tl

    if isinstance(value, tl.constexpr):
        value = value.value
        if isinstance(value, bool):
            return to_tensor(value)
    if type(value) is int:
        return Whole(value)
    if type(value) is float:
        return Real(value)
    return value


def to_tensor(value: Any) -> Any:
    """A Python number as the tensor that the compiler would make of it."""
    from triton.runtime import interpreter

    if hasattr(interpreter, "interpreter_semantic"):
        return interpreter.interpreter_semantic.to_tensor(value, False)
    from triton.language import semantic

    return semantic.to_tensor(value, interpreter.interpreter_builder, False)


def _tensor_attribute(value: Any, name: str) -> Any:
    import triton.language as tl

    if name.startswith("__") or (not hasattr(tl.tensor, name) and name not in ("dtype", "shape", "type", "handle")):
        raise AttributeError(f"a constant of a kernel has no attribute {name!r}")
    return getattr(to_tensor(value), name)


def _tensor_methods(old: Any) -> Any:
    def patch(tensor: Any, *scope: Any) -> None:
        old(tensor, *scope)
        tensor.__index__ = _to_index

    return patch


def _to_index(self: Any) -> int:
    if self.handle.data.size != 1:
        raise TypeError(f"a block of shape {list(self.handle.data.shape)} is used as one integer")
    return int(self.handle.data.reshape(-1)[0])


def _implicit(old: Any) -> Any:
    def implicit(arg: Any) -> Any:
        import triton.language as tl

        # A Python float is a 32-bit argument on a chip; the interpreter would keep 64 bits.
        if type(arg) is float:
            return tl.tensor(make(np.array([arg], np.float32), tl.float32), tl.float32)
        return old(arg)

    return implicit
