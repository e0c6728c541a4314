"""What the language has beside blocks: methods of mathematics, instructions of one vendor, printing in hexadecimal."""

from __future__ import annotations

from typing import Any

import numpy as np

from kengine_triton.interpret.libdevice import bind_builtins
from kengine_triton.interpret.unsupported import refuse


def install_language() -> None:
    """Make each work or say that it cannot be interpreted; called after Triton has patched its language."""
    import triton.language as tl
    from triton.runtime.interpreter import InterpreterBuilder

    for name, function in list(vars(tl.math).items()):
        # Triton 3.6 gives `x.exp()` the function from before it was patched.
        if name in vars(tl.tensor) and callable(function) and getattr(function, "__module__", "") != "builtins":
            setattr(tl.tensor, name, function)
    for vendor in ("cuda", "hip"):
        module = getattr(tl.extra, vendor, None)
        if module is not None:
            _open(module)
    for holder in (tl, tl.core):
        if hasattr(holder, "map_elementwise"):
            holder.map_elementwise = _unsupported("tl.map_elementwise")
    InterpreterBuilder.create_print = _create_print


def _open(module: Any) -> None:
    bind_builtins(module)
    for name in ("num_warps", "num_threads"):
        if hasattr(module, name):
            setattr(module, name, _unsupported(f"{module.__name__}.{name}"))
    for name in ("gdc_wait", "gdc_launch_dependents"):
        if hasattr(module, name):
            setattr(module, name, _nothing)


def _nothing(*_: Any, **__: Any) -> None:
    """Order between kernels: here one has ended before the next begins."""


def _unsupported(construct: str) -> Any:
    def call(*_: Any, **__: Any) -> Any:
        raise refuse(construct)

    return call


def _create_print(self: Any, prefix: str, hex: bool, values: list[Any], *_: Any) -> None:
    head = f"{tuple(self.grid_idx)} {prefix}"
    for value in values:
        data = value.data
        if hex:
            bits = np.ascontiguousarray(data).view(f"u{data.dtype.itemsize}")
            data = np.array([f"0x{int(x):0{2 * data.dtype.itemsize}x}" for x in bits.flat]).reshape(bits.shape)
        print(head, data)
