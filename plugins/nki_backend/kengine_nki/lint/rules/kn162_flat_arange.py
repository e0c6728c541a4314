"""An index grid of the old generation without its second axis, or beside a slice.

What it does:
Finds `nl.arange(n)` as an index without `[:, None]` or `[None, :]`, and indices that hold a grid of `nl.arange` or
`nl.mgrid` and a slice at once.

Why is this bad:
Both are refused: grids have two axes at least, one for the partitions, and indices are all grids or all slices.

Example:
    i_p = nl.arange(128)
    tile = nl.load(x[i_p, 0:512])

Use instead:
    i_p = nl.arange(128)[:, None]
    i_f = nl.arange(512)[None, :]
    tile = nl.load(x[i_p, i_f])
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

from kengine_nki.lint.kernels import device_nodes
from kengine_nki.lint.shapes import elements
from kengine_nki.lint.tiles import find_tiles

_ARANGE = "neuronxcc.nki.language.arange"


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at indices of tensors."""
    tiles, inside = find_tiles(source), device_nodes(source)
    for node in source.find(ast.Subscript):
        tile = tiles.of(node.value) if node in inside else None
        if tile is None or tile.generation != "old":
            continue
        parts = elements(node.slice)
        grids = [_axes(source, p, 0) for p in parts]
        if 1 in grids:
            yield hit(
                node, "nl.arange as an index needs two axes; write nl.arange(n)[:, None] or nl.arange(n)[None, :]"
            )
        elif 2 in grids and any(_is_partial(p) for p in parts):
            yield hit(node, "an index holds grids of nl.arange and slices; write all of it as one or the other")


def _axes(source: SourceTree, node: ast.expr, depth: int) -> int:
    """2 for a grid with axes, 1 for a bare arange, 0 for what is none or not known."""
    if isinstance(node, ast.Call):
        return 1 if _ARANGE in source.resolve(node.func) else 0
    if isinstance(node, ast.Subscript):
        return 2 if _axes(source, node.value, depth) == 1 else 0
    if depth > 6:
        return 0
    if isinstance(node, ast.BinOp):
        return max(_axes(source, node.left, depth + 1), _axes(source, node.right, depth + 1))
    if isinstance(node, ast.Name):
        found = source.scopes.lookup(node.id, node)
        bound = found[0].node if len(found) == 1 and found[0].kind == "value" else None
        return _axes(source, bound, depth + 1) if isinstance(bound, ast.expr) else 0
    return 0


def _is_partial(node: ast.expr) -> bool:
    return isinstance(node, ast.Slice) and (node.lower is not None or node.upper is not None)


RULE = Rule("KN162", "flat-arange", "warn", check, __doc__)
