"""Python operators on tiles, in the standalone package.

What it does:
Finds `+`, `*`, `-`, `@`, comparisons and their like with a tile that the kernel allocates or a part of a tensor.

Why is this bad:
Tiles of the standalone package have no operators; the old generation had them.

Example:
    y = x * 2.0

Use instead:
    nisa.tensor_scalar(dst=y, data=x, op0=nl.multiply, operand0=2.0)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

from kengine_nki.lint.kernels import device_nodes
from kengine_nki.lint.tiles import Tiles, find_tiles

_USE = {
    ast.Add: "nl.add", ast.Sub: "nl.subtract", ast.Mult: "nl.multiply", ast.Div: "nisa.reciprocal and nl.multiply",
    ast.MatMult: "nisa.nc_matmul", ast.Pow: "nl.power",
}  # fmt: skip


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at operators."""
    tiles, inside = find_tiles(source), device_nodes(source)
    for node in source.live:
        if node not in inside:
            continue
        binary = (node.left, node.right) if isinstance(node, ast.BinOp) else ()
        if isinstance(node, ast.AugAssign):
            binary = (node.target, node.value)
        if isinstance(node, (ast.BinOp, ast.AugAssign)) and _any_tile(tiles, *binary):
            how = _USE.get(type(node.op), "an instruction of nki.isa")
        elif isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.Not) and _any_tile(tiles, node.operand):
            how = "nl.multiply by -1"
        elif isinstance(node, ast.Compare) and _any_tile(tiles, node.left, *node.comparators):
            if any(isinstance(op, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for op in node.ops) or _has_none(node):
                continue
            how = "nl.less, nl.equal and their like"
        else:
            continue
        yield hit(node, f"tiles have no operators in the standalone `nki`; use an instruction, with {how}")


def _has_none(node: ast.Compare) -> bool:
    return any(isinstance(c, ast.Constant) and c.value is None for c in (node.left, *node.comparators))


def _any_tile(tiles: Tiles, *nodes: ast.expr) -> bool:
    found = [tiles.of(n) for n in nodes]
    return any(t is not None and t.generation == "new" and not t.parameter for t in found)


RULE = Rule("KN153", "tile-operators", "warn", check, __doc__)
