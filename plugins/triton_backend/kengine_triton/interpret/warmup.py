"""What `kernel.warmup(...)` gives: wrappers read registers and shared memory off it to size their grid.

The interpreter compiles nothing and returns None there, which makes honest wrappers fail.
"""

from __future__ import annotations

import types
from typing import Any

REGISTERS = 64
SHARED_BYTES = 4096
"""Figures of an ordinary kernel: only ever used to decide how many programs to start."""


class Warmed:
    """Stands in for a compiled kernel; launching it launches the interpreted one."""

    n_regs = REGISTERS
    n_spills = 0
    n_max_threads = 1024

    def __init__(self, function: Any, options: dict[str, Any]) -> None:
        self._function = function
        self.name = function.fn.__name__
        self.metadata = types.SimpleNamespace(
            shared=SHARED_BYTES,
            name=self.name,
            num_warps=options.get("num_warps", 4),
            num_stages=options.get("num_stages", 3),
            num_ctas=options.get("num_ctas", 1),
        )

    def _init_handles(self) -> None:
        """Nothing is loaded."""

    def __getitem__(self, grid: Any) -> Any:
        return self._function[grid]


def install() -> None:
    """Give interpreted kernels a `warmup` that returns something to read from."""
    from triton.runtime.interpreter import InterpretedFunction

    def warmup(self: Any, *args: Any, grid: Any = None, **kwargs: Any) -> Warmed:
        return Warmed(self, kwargs)

    InterpretedFunction.warmup = warmup
