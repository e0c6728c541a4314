"""A kernel returns a tensor that nothing writes.

What it does:
Finds tensors in `nl.shared_hbm` that a kernel allocates and returns, and otherwise only asks for their shape or type.

Why is this bad:
The output holds whatever lay there; the interpreter fills it with NaN.

Example:
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.activation(dst=y, op=nl.exp, data=tile)
    return out

Use instead:
    nisa.activation(dst=y, op=nl.exp, data=tile)
    nisa.dma_copy(dst=out, src=y)
    return out
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

from kengine_nki.lint.kernels import find_kernels, own_nodes
from kengine_nki.lint.tiles import find_tiles


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at returned names."""
    tiles, live = find_tiles(source), set(source.live)
    for kernel in find_kernels(source).functions:
        if kernel not in live:
            continue
        returned: set[str] = set()
        used: set[str] = set()
        for node in own_nodes(kernel):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                (returned if _is_returned(source, node) else used).add(node.id) if not _asks(source, node) else None
        inner = {n.id for f in ast.walk(kernel) if f is not kernel and isinstance(f, (ast.FunctionDef, ast.Lambda))
                 for n in ast.walk(f) if isinstance(n, ast.Name)}  # fmt: skip
        for node in own_nodes(kernel):
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                name, tile = node.targets[0].id, tiles.of(node.value)
                if tile is None or tile.made is not node.value or tile.memory != "shared_hbm":
                    continue
                if name in returned - used - inner and _is_empty(node.value):
                    yield hit(node, f"nothing writes the output {name!r}; copy the result to it before it is returned")


def _is_empty(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) in (
        "ndarray", "empty_like",
    )  # fmt: skip


def _is_returned(source: SourceTree, node: ast.AST) -> bool:
    parent = source.parents.get(node)
    while isinstance(parent, (ast.Tuple, ast.List)):
        parent = source.parents.get(parent)
    return isinstance(parent, ast.Return)


def _asks(source: SourceTree, node: ast.AST) -> bool:
    parent = source.parents.get(node)
    return isinstance(parent, ast.Attribute) and parent.attr in ("shape", "dtype", "ndim", "size", "buffer")


RULE = Rule("KN152", "unwritten-output", "warn", check, __doc__)
