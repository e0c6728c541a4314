"""An index beyond the end of a tile.

What it does:
Compares indices, slices and `nl.ds` that come to constants with shapes that are known, and counts axes.

Why is this bad:
The access is refused; unlike in numpy a slice is not cut off at the end.

Example:
    x = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)
    nisa.memset(dst=x[:, 0:513], value=0.0)

Use instead:
    nisa.memset(dst=x[:, 0:512], value=0.0)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

from kengine_nki.lint.integers import Integers
from kengine_nki.lint.kernels import device_nodes
from kengine_nki.lint.shapes import Shape, ds_argument, elements, is_ds
from kengine_nki.lint.tiles import find_tiles


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at subscripts."""
    tiles, inside = find_tiles(source), device_nodes(source)
    for node in source.find(ast.Subscript):
        tile = tiles.of(node.value) if node in inside else None
        if tile is None or tile.shape is None or _is_masked(source, node):
            continue
        problem = _problem(source, tiles.integers, tile.shape, elements(node.slice))
        if problem:
            yield hit(node, problem)


def _problem(source: SourceTree, numbers: Integers, shape: Shape, parts: list[ast.expr]) -> str:
    if any(isinstance(p, ast.Constant) and not isinstance(p.value, int) for p in parts):
        return ""
    if len(parts) > len(shape):
        return f"{len(parts)} indices for a tensor with {len(shape)} axes"
    for axis, (part, size) in enumerate(zip(parts, shape)):
        last: int | None = None
        if isinstance(part, ast.Slice):
            low, high = numbers.integer(part.lower), numbers.integer(part.upper)
            if low is not None and high is not None and low >= high >= 0:
                return f"the slice {low}:{high} on axis {axis} is empty"
            if high is not None and part.step is None:
                last = high - 1
        elif is_ds(source, part):
            assert isinstance(part, ast.Call)
            low, count = (numbers.integer(ds_argument(part, i, n)) for i, n in ((0, "start"), (1, "size")))
            last = low + count - 1 if low is not None and count is not None else None
        else:
            last = numbers.integer(part)
        if last is not None and size is not None and last >= size:
            return f"index {last} on axis {axis} is beyond its size {size}"
    return ""


def _is_masked(source: SourceTree, node: ast.AST) -> bool:
    """Whether a call around it has a mask, under which the old generation allows such indices."""
    parent = source.parents.get(node)
    while isinstance(parent, ast.expr):
        if isinstance(parent, ast.Call) and any(k.arg == "mask" for k in parent.keywords):
            return True
        parent = source.parents.get(parent)
    return False


RULE = Rule("KN139", "out-of-bounds", "warn", check, __doc__)
