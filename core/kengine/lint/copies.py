"""Kernels written as Python functions: whether they only copy, and whether they could hold a product."""

from __future__ import annotations

import ast

from kengine.lint.source import SourceTree
from kengine.plugins import dialect

_ADDS = frozenset({"dot", "matmul", "sum", "cumsum", "reduce", "mma", "gemm", "fma"})
"""Names that many languages have for what adds up terms; those of one language, its backend declares."""


def may_multiply(kernel: ast.AST) -> bool:
    """Whether a kernel holds anything that could be part of a product: a dot, a reduction, a loop that adds."""
    loops = any(isinstance(n, (ast.For, ast.While)) for n in ast.walk(kernel))
    adding = dialect.declared().adding
    for node in ast.walk(kernel):
        if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add) and loops:
            return True
        name = getattr(node, "attr", getattr(node, "id", ""))
        if name in _ADDS or name in adding or "atomic" in name or "dot" in name:
            return True
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            return True
    return False


def only_copies(source: SourceTree, kernel: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a kernel stores only what it loaded, unchanged or multiplied by one. False where it is not clear."""
    stores = [n for n in ast.walk(kernel) if isinstance(n, ast.Call) and getattr(n.func, "attr", "") == "store"]
    others = any("atomic" in getattr(n, "attr", "") for n in ast.walk(kernel))
    own = {o.name for o in source.nodes if isinstance(o, ast.FunctionDef)}
    helpers = any(isinstance(n, ast.Call) and getattr(n.func, "id", "") in own for n in ast.walk(kernel))
    return bool(stores) and not others and not helpers and all(_stores_loaded(source, kernel, call) for call in stores)


def _stores_loaded(source: SourceTree, kernel: ast.AST, call: ast.Call) -> bool:
    value = call.args[1] if len(call.args) > 1 else next((k.value for k in call.keywords if k.arg == "value"), None)
    return value is not None and _is_loaded(source, kernel, value, 0)


def _is_loaded(source: SourceTree, kernel: ast.AST, value: ast.expr, depth: int) -> bool:
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        if value.func.attr == "load":
            return not _gathers(source, value)
        return value.func.attr == "to" and _is_loaded(source, kernel, value.func.value, depth)
    if isinstance(value, ast.BinOp):
        neutral = {ast.Mult: 1, ast.Div: 1, ast.Add: 0, ast.Sub: 0}.get(type(value.op))
        same = isinstance(value.right, ast.Constant) and neutral is not None and value.right.value == neutral
        return same and _is_loaded(source, kernel, value.left, depth)
    if isinstance(value, ast.Name) and depth < 8:
        changed = any(
            isinstance(n, ast.AugAssign) and getattr(n.target, "id", "") == value.id for n in ast.walk(kernel)
        )
        bindings = source.scopes.lookup(value.id, value)
        return (
            bool(bindings)
            and not changed
            and all(
                b.kind == "value" and isinstance(b.node, ast.expr) and _is_loaded(source, kernel, b.node, depth + 1)
                for b in bindings
            )
        )
    return False


def _gathers(source: SourceTree, load: ast.Call) -> bool:
    """Whether the address of a load was itself loaded: gathering is work of its own."""
    pending: list[ast.AST] = list(load.args[:1])
    seen: set[str] = set()
    while pending:
        for node in ast.walk(pending.pop()):
            if isinstance(node, ast.Attribute) and node.attr == "load":
                return True
            if isinstance(node, ast.Name) and node.id not in seen:
                seen.add(node.id)
                pending += [
                    b.node for b in source.scopes.lookup(node.id, node) if b.kind == "value" and b.node is not None
                ]
    return False
