"""Which tensors instructions write."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kengine.lint.source import SourceTree

from kengine_nki.lint.calls import ApiCall, bind
from kengine_nki.lint.kernels import own_nodes

RESULTS = ("dst", "reduce_res", "dst_scale", "val_dst", "idx_dst", "dst_idx")
"""Parameters that an instruction writes to."""


def root(node: ast.AST | None) -> ast.Name | None:
    """The name under subscripts, attributes and methods of views: `x` of `x[0].reshape((2, 3))[1]`."""
    while node is not None:
        if isinstance(node, ast.Name):
            return node
        if isinstance(node, (ast.Subscript, ast.Attribute, ast.Starred)):
            node = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            node = node.func.value
        else:
            return None
    return None


def written(call: ApiCall) -> Iterator[ast.expr]:
    """Arguments that a call writes to."""
    if call.member in ("device_print",):
        return
    for name in RESULTS:
        value = call.arguments.get(name)
        if value is not None:
            yield value


def written_names(source: SourceTree, function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """Names of tensors that a function writes: as results of instructions, and by assignments to parts of them.

    Tensors that it passes on to other functions of the file count too.
    """
    found: set[str] = set()
    for node in own_nodes(function):
        targets: list[ast.expr] = []
        if isinstance(node, ast.Call):
            names = source.resolve(node.func)
            call = bind(node, next(iter(names))) if len(names) == 1 else None
            if call is not None:
                targets += written(call)
            elif not names or any(n.startswith("@") for n in names):
                targets += [*node.args, *(k.value for k in node.keywords)]
        elif isinstance(node, ast.Assign):
            targets += [t for t in node.targets if isinstance(t, ast.Subscript)]
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, (ast.Subscript, ast.Name)):
            targets.append(node.target)
        found |= {name.id for name in map(root, targets) if name is not None}
    return found
