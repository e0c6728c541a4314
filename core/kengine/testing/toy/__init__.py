"""The toy backend: kernels in plain Python, one target `toy:cpu`, nothing to install. Copy it to begin a real one.

A candidate decorates a function of one program and launches it over a grid, on numpy arrays:

    from kengine.testing import toy

    @toy.kernel
    def add(program, x, y, out):
        rows = slice(program * 64, min(program * 64 + 64, len(out)))
        out[rows] = x[rows] + y[rows]

    def candidate(x, y):
        out = numpy.empty_like(x)
        add[-(-len(out) // 64)](x, y, out)
        return out

This module is the language. A real backend has a compiler in its place; `plugin.py` (the hooks), `targets.py`,
`compile.py` and `launch.py` stand under the same names in every backend.
"""

from __future__ import annotations

from kengine.testing.toy.language import Kernel, LaunchWithheld, Memory, OutOfBounds, kernel

__all__ = ["Kernel", "LaunchWithheld", "Memory", "OutOfBounds", "kernel"]
