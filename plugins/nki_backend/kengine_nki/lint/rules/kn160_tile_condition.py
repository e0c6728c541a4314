"""Control flow that depends on what a tile holds.

What it does:
Finds `if`, `while`, `assert`, `and`, `or` and conditional expressions whose condition is a tile or a comparison with
one.

Why is this bad:
A kernel is traced before any value exists, so a tile is neither true nor false. Values are chosen by instructions.

Example:
    if x > 0:
        nisa.tensor_copy(dst=y, src=x)

Use instead:
    nisa.tensor_scalar(dst=positive, data=x, op0=nl.greater, operand0=0.0)
    nisa.tensor_copy_predicated(dst=y, src=x, predicate=positive)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

from kengine_nki.lint.kernels import device_nodes
from kengine_nki.lint.tiles import Tiles, find_tiles


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at conditions."""
    tiles, inside = find_tiles(source), device_nodes(source)
    for node in source.live:
        if node in inside and isinstance(node, (ast.If, ast.While, ast.IfExp, ast.Assert)):
            for condition in _conditions(node.test):
                if _is_tile(tiles, condition):
                    yield hit(
                        condition,
                        "a tile has no truth value while the kernel is traced; choose with an instruction such as "
                        "nisa.tensor_copy_predicated",
                    )


def _conditions(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.BoolOp):
        for value in node.values:
            yield from _conditions(value)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield from _conditions(node.operand)
    else:
        yield node


def _is_tile(tiles: Tiles, node: ast.expr) -> bool:
    nodes = [node]
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        named = any(isinstance(op, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for op in node.ops)
        if named or any(isinstance(s, ast.Constant) and s.value is None for s in sides):
            return False
        nodes = sides
    found = [tiles.of(n) for n in nodes]
    return any(t is not None and not t.parameter for t in found)


RULE = Rule("KN160", "tile-condition", "warn", check, __doc__)
