"""Tiles of a rounded-up loop are loaded or stored without a mask, in the old generation.

What it does:
Finds `nl.load` and `nl.store` inside of a loop over a rounded-up number of tiles, `(n + 127) // 128` or `math.ceil(n /
128)`, whose index depends on the loop's variable and that have no `mask`.

Why is this bad:
The last tile reaches beyond the tensor when the size is no multiple of the tile.

Example:
    for i in nl.affine_range((n + 127) // 128):
        tile = nl.load(x[i * 128 + i_p, i_f])

Use instead:
    for i in nl.affine_range((n + 127) // 128):
        tile = nl.load(x[i * 128 + i_p, i_f], mask=(i * 128 + i_p < n))
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

from kengine_nki.lint.calls import find_calls
from kengine_nki.lint.tiles import find_tiles


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at loads and stores inside of such loops."""
    numbers = find_tiles(source).integers
    for call in find_calls(source):
        if call.is_new or call.member not in ("load", "store") or call.get("mask") is not None or call.spread:
            continue
        tensor = call.get("src", "dst")
        if not isinstance(tensor, ast.Subscript):
            continue
        used = {n.id for n in ast.walk(tensor.slice) if isinstance(n, ast.Name)}
        loop = _rounded_loop(source, call.node, used)
        if loop is not None and numbers.integer(loop) is None and not _is_cut(source, tensor):
            yield hit(
                call.node,
                f"{call.name.short} in a loop over a rounded-up number of tiles has no mask; the last tile may reach "
                "beyond the tensor",
            )


def _rounded_loop(source: SourceTree, node: ast.AST, used: set[str]) -> ast.expr | None:
    """The rounded-up count of a loop around the node whose variable is used."""
    at = source.parents.get(node)
    while at is not None and not isinstance(at, ast.FunctionDef):
        named = isinstance(at, ast.For) and isinstance(at.target, ast.Name) and at.target.id in used
        counts = at.iter.args if named and isinstance(at, ast.For) and isinstance(at.iter, ast.Call) else []
        if len(counts) == 1 and _is_rounded(source, counts[0], 0):
            return counts[0]
        at = source.parents.get(at)
    return None


def _is_rounded(source: SourceTree, node: ast.expr, depth: int) -> bool:
    if isinstance(node, ast.Name) and depth < 4:
        found = source.scopes.lookup(node.id, node)
        bound = found[0].node if len(found) == 1 and found[0].kind == "value" else None
        return isinstance(bound, ast.expr) and _is_rounded(source, bound, depth + 1)
    if isinstance(node, ast.Call):
        names = source.resolve(node.func)
        if names & {"builtins.int"} and node.args:
            return _is_rounded(source, node.args[0], depth)
        return bool(names & {"math.ceil", "numpy.ceil"})
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv) and isinstance(node.left, ast.BinOp):
        return isinstance(node.left.op, (ast.Add, ast.Sub))
    negated = node.operand if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else None
    return isinstance(negated, ast.BinOp) and isinstance(negated.op, ast.FloorDiv)


def _is_cut(source: SourceTree, tensor: ast.Subscript) -> bool:
    """Whether the index uses min(...), directly or through a name."""
    for node in ast.walk(tensor.slice):
        values: list[ast.AST | None] = [node]
        if isinstance(node, ast.Name):
            values = [b.node for b in source.scopes.lookup(node.id, node)[:16]]
        for value in values:
            for inner in ast.walk(value) if isinstance(value, ast.expr) else ():
                if isinstance(inner, ast.Call) and source.resolve(inner.func) & {"builtins.min"}:
                    return True
    return False


RULE = Rule("KN161", "missing-mask", "warn", check, __doc__)
