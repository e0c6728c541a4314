"""The value of an instruction is used as if it were a tile.

What it does:
Finds calls of `nki.isa` in the standalone package whose value is assigned and then used, passed on, returned or
computed with. `depends_on` is what the value is for.

Why is this bad:
Instructions write into `dst`; what they return is a handle for ordering, not a tensor.

Example:
    y = nisa.tensor_copy(dst=tile, src=x)
    nisa.dma_copy(dst=out, src=y)

Use instead:
    nisa.tensor_copy(dst=tile, src=x)
    nisa.dma_copy(dst=out, src=tile)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

from kengine_nki.lint.calls import find_calls

_VALUES = frozenset({"get_nc_version", "get_nc_sub_version", "register_alloc"})


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at where values go."""
    loads: dict[tuple[ast.AST, str], list[ast.Name]] = {}
    for node in source.find(ast.Name):
        if isinstance(node.ctx, ast.Load):
            loads.setdefault((source.scopes.scope_of(node), node.id), []).append(node)
    for call in find_calls(source):
        if not (call.is_new and call.is_isa and call.signature is not None) or call.member in _VALUES:
            continue
        if "dst" in call.signature.required and "dst" not in call.arguments and not call.spread:
            continue  # written for the old package: KN115 says what is missing
        if _is_used(source, call.node, loads):
            yield hit(call.node, f"{call.name.short}() returns no tile; use what was passed as dst")


def _is_used(source: SourceTree, node: ast.expr, loads: dict[tuple[ast.AST, str], list[ast.Name]]) -> bool:
    parent = source.parents.get(node)
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
        name = parent.targets[0].id
        if len(source.scopes.lookup(name, parent)) != 1:
            return False
        return any(not _orders(source, use) for use in loads.get((source.scopes.scope_of(parent), name), ()))
    if isinstance(parent, (ast.Subscript, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Return, ast.AugAssign)):
        return True
    if isinstance(parent, (ast.Call, ast.keyword)):
        return not _orders(source, node)
    return isinstance(parent, ast.Attribute) and parent.attr != "depends_on"


def _orders(source: SourceTree, node: ast.expr) -> bool:
    """Whether a value is used to order instructions, or kept in a list for that."""
    parent: ast.AST | None = source.parents.get(node)
    if isinstance(parent, (ast.List, ast.Tuple, ast.Starred)):
        return True
    if isinstance(parent, ast.keyword):
        parent = source.parents.get(parent)
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute):
        return parent.func.attr in ("depends_on", "append")
    return isinstance(parent, ast.Attribute) and parent.attr == "depends_on"


RULE = Rule("KN120", "instruction-value", "warn", check, __doc__)
