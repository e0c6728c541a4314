"""The candidate remembers results by the identity of its inputs.

What it does:
Finds `x.data_ptr()`, `id(x)` or `x._version` used as (part of) a key of a table, or compared with a remembered one.
Alignment checks and pointers passed to a launcher are fine.

Why is this bad:
A buffer that comes back with other contents gets the old answer. It is a warning: the judge overwrites buffers
between calls, and a cache that survives that is honest.

Example:
    key = x.data_ptr()
    if key not in CACHE:
        CACHE[key] = compute(x)
    return CACHE[key]

Use instead:
    Cache what depends on shape, dtype and device only: plans, configurations, compiled kernels, workspaces.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at keys of subscripts, of get and in, and at comparisons with something that was kept."""
    for node in source.live:
        keys: list[ast.AST] = []
        if isinstance(node, ast.Subscript):
            keys = [node.slice]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in ("get", "setdefault", "pop", "__getitem__", "__setitem__") and node.args:
                keys = [node.args[0]]
        elif isinstance(node, ast.Compare):
            if any(isinstance(op, (ast.In, ast.NotIn)) for op in node.ops):
                keys = [node.left]
            elif any(isinstance(op, (ast.Eq, ast.NotEq, ast.Is, ast.IsNot)) for op in node.ops):
                keys = [side for side in (node.left, *node.comparators) if not isinstance(side, ast.Constant)]
                keys = keys if any(_is_kept(source, side) for side in keys) else []
        if any(_has_identity(source, key, 0) for key in keys):
            yield hit(node, "remembers by the identity of an input, not by its contents")


def _has_identity(source: SourceTree, node: ast.AST, depth: int) -> bool:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Call):
            if isinstance(inner.func, ast.Attribute) and inner.func.attr in ("data_ptr", "untyped_storage"):
                parent = source.parents.get(inner)
                if not (isinstance(parent, ast.BinOp) and isinstance(parent.op, (ast.Mod, ast.BitAnd))):
                    return True
            if "builtins.id" in source.resolve(inner.func):
                return True
        elif isinstance(inner, ast.Attribute) and inner.attr == "_version":
            return True
        elif isinstance(inner, ast.Name) and depth < 4:
            for binding in source.scopes.lookup(inner.id, inner):
                if (
                    binding.kind == "value"
                    and isinstance(binding.node, (ast.Call, ast.Tuple))
                    and _has_identity(source, binding.node, depth + 1)
                ):
                    return True
    return False


def _is_kept(source: SourceTree, node: ast.AST) -> bool:
    """Whether a value outlives the call: an attribute, an item, or a global of the file."""
    if isinstance(node, (ast.Attribute, ast.Subscript)):
        return True
    return isinstance(node, ast.Name) and node.id in source.scopes.bindings[source.tree]


RULE = Rule("KE122", "caches-by-identity", "warn", check, __doc__)
