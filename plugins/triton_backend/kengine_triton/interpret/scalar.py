"""Scalars: constants of narrow types, and loop bounds under numpy 2.4.

numpy 2.4 refuses `int()` of an array with one element but one dimension, which is how Triton 3.3-3.6 keep scalars:
every `for` over a runtime bound fails there. Triton 3.3 has no narrow constants at all.
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


def _tensor_methods(old: Any) -> Any:
    def patch(tensor: Any, *scope: Any) -> None:
        old(tensor, *scope)
        tensor.__index__ = _to_index
        tensor.__bool__ = _to_bool

    return patch


def _to_index(self: Any) -> int:
    if self.handle.data.size != 1:
        raise TypeError(f"a block of shape {list(self.handle.data.shape)} is used as one integer")
    return int(self.handle.data.reshape(-1)[0])


def _to_bool(self: Any) -> bool:
    if self.handle.data.size != 1:
        raise ValueError(
            f"a block of shape {list(self.handle.data.shape)} is used as a condition; a chip's compiler refuses `if`, "
            "`while`, `and`, `or` and `not` on blocks: use tl.where, &, | or ~"
        )
    return bool(self.handle.data.reshape(-1)[0])


def _implicit(old: Any) -> Any:
    def implicit(arg: Any) -> Any:
        import triton.language as tl

        # A Python float is a 32-bit argument on a chip; the interpreter would keep 64 bits.
        if isinstance(arg, float):
            return tl.tensor(make(np.array([arg], np.float32), tl.float32), tl.float32)
        return old(arg)

    return implicit
