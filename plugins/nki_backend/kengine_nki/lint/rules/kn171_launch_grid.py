"""A grid that the standalone package does not know.

What it does:
Finds launches `kernel[grid](...)` with a tuple or a number above two.

Why is this bad:
The grid of the standalone package is the number of logical cores, 1 or 2, not a number of programs; loops over tiles
stand in the kernel.

Example:
    y = kernel[(4, 8)](x)

Use instead:
    y = kernel(x)  # with `for i in nl.affine_range(4)` in the kernel
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

from kengine_nki.lint.integers import integers
from kengine_nki.lint.kernels import find_kernels, generation_of


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at grids of the kernels of the file."""
    kernels = find_kernels(source)
    generation = {f.name: generation_of(source, f) for f in kernels.functions}
    for node in source.find(ast.Subscript):
        if not isinstance(node.ctx, ast.Load) or node in kernels.bodies:
            continue
        names = {n[1:] for n in source.resolve(node.value) if n.startswith("@")}
        if not names or any(generation.get(n) != "new" for n in names):
            continue
        count = integers(source).integer(node.slice)
        if isinstance(node.slice, ast.Tuple) or (count is not None and count not in (1, 2)):
            yield hit(
                node, "the grid of the standalone `nki` is the number of logical cores, 1 or 2; loop in the kernel"
            )


RULE = Rule("KN171", "launch-grid", "warn", check, __doc__)
