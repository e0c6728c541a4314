"""A parameter that makes a shape is not a `tl.constexpr`.

What it does:
Finds parameters of a kernel without the annotation `tl.constexpr` that are the bounds of `tl.arange` or the shape of
`tl.zeros`, `tl.full`, `tl.reshape` or `tl.broadcast_to`.

Why is this bad:
The length of a tile is part of its type, so the compiler must know it. It is a warning because the compiler itself
refuses such a kernel, with its own message.

Example:
    @triton.jit
    def add(x_ptr, y_ptr, n, BLOCK):
        cols = tl.arange(0, BLOCK)

Use instead:
    @triton.jit
    def add(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
        cols = tl.arange(0, BLOCK)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

from kengine_triton.lint.kernels import constexprs, find_kernels, language_calls, parameters

_SHAPED = {"arange": None, "zeros": 0, "full": 0, "reshape": 1, "view": 1, "broadcast_to": 1}


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at what shapes are made of, in kernels that are launched (helpers are given constants by their callers)."""
    kernels = find_kernels(source)
    inner = {n.id for n in kernels.bodies if isinstance(n, ast.Name)}
    for kernel in kernels.functions:
        if kernel.name in inner:
            continue
        runtime = set(parameters(kernel)) - constexprs(source, kernel)
        for function, position in _SHAPED.items():
            for call in language_calls(source, kernel, function):
                shapes = call.args if position is None else call.args[position : position + 1]
                shapes = [*shapes, *(k.value for k in call.keywords if k.arg in ("shape", "start", "end"))]
                for name in sorted({n for shape in shapes for n in _plain_names(shape)} & runtime):
                    yield hit(call, f"tl.{function} takes its shape from {name!r}, which must be a tl.constexpr")


def _plain_names(node: ast.expr) -> Iterator[str]:
    """Names in a shape: `N`, `(M, N)`, `2 * N`."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name):
            yield inner.id


RULE = Rule("KT102", "missing-constexpr", "warn", check, __doc__)
