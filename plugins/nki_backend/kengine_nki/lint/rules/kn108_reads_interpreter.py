"""The candidate reaches into the interpreter that runs it.

What it does:
Finds uses of `kengine_nki` in a candidate, and attributes of tensors that only the interpreter's tensors have
(`storage`, `array`, `tag_array`, `mark`, `gather`).

Why is this bad:
NKI has none of them. They lead to the bytes behind a tensor, where Python can compute or write an answer that no
instruction made.

Example:
    @nki.jit
    def kernel(x):
        out.storage.bytes[:] = np.exp(x.array()).tobytes()

Use instead:
    nisa.activation(dst=tile, op=nl.exp, data=tile)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kengine.lint.names import is_within
from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

from kengine_nki.lint.kernels import device_nodes
from kengine_nki.lint.tiles import find_tiles

_PACKAGES = ("kengine_nki",)
_INNER = frozenset({"storage", "array", "_array", "tag_array", "mark", "gather", "covers_storage", "par", "irregular"})
_DEEP = frozenset({"tag_array", "_array", "covers_storage"})
_OF_STORAGE = frozenset({"bytes", "tags", "filled", "poison", "uniform", "dirty", "region", "first"})


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at imports, references and attributes of tensors."""
    for node, name in source.references():
        if is_within(name, _PACKAGES):
            yield hit(node, f"{name} is the interpreter that judges this kernel; use the functions of nki")
    for statement in source.live:
        modules = [a.name for a in statement.names] if isinstance(statement, ast.Import) else (
            [statement.module or ""] if isinstance(statement, ast.ImportFrom) and statement.level == 0 else []
        )  # fmt: skip
        if any(is_within(m, _PACKAGES) for m in modules):
            yield hit(statement, "imports the interpreter that judges this kernel; use the functions of nki")
    tiles, inside = find_tiles(source), device_nodes(source)
    for place in source.live:
        if place not in inside:
            continue
        base, member = _member(source, place)
        tile = tiles.of(base) if member in _INNER else None
        if tile is None or (tile.parameter and member not in _DEEP and not _is_storage(source, place, member)):
            continue
        yield hit(place, f"{member!r} is no part of NKI but of the interpreter's tensors; use instructions")


def _member(source: SourceTree, node: ast.AST) -> tuple[ast.expr | None, str]:
    """The object and the member of `tile.storage` and of `getattr(tile, "storage")`."""
    if isinstance(node, ast.Attribute):
        return node.value, node.attr
    if isinstance(node, ast.Call) and len(node.args) > 1 and "builtins.getattr" in source.resolve(node.func):
        return node.args[0], source.fold(node.args[1]) or ""
    return None, ""


def _is_storage(source: SourceTree, node: ast.AST, member: str) -> bool:
    """Whether `x.storage` of an argument, which may be any object, is asked for what only a tensor's storage has."""
    parent = source.parents.get(node)
    return member == "storage" and isinstance(parent, ast.Attribute) and parent.attr in _OF_STORAGE


RULE = Rule("KN108", "reads-interpreter", "reject", check, __doc__)
