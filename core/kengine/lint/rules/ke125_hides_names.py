"""The candidate builds the name of what it calls.

What it does:
Finds `getattr`, `__import__`, `import_module` and look-ups in `vars(x)` or `__dict__` whose key is put together
from pieces, reversed, or decoded, and says what it comes to. Also reports a file whose names are too entangled to
be followed.

Why is this bad:
A name is written in pieces to keep it from being found. What it resolves to is judged by the other rules.

Example:
    op = getattr(torch, "mat" + "mul")

Use instead:
    Name what you call.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

_LOOKUPS = frozenset({"builtins.getattr", "builtins.setattr", "importlib.import_module", "operator.attrgetter",
                      "operator.methodcaller"})  # fmt: skip


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at the keys of look-ups."""
    source.references()
    if source.names.exhausted:
        yield Hit(1, "binds names so often and through each other that they cannot be followed")
    for node in source.live:
        key: ast.expr | None = None
        if isinstance(node, ast.Call) and node.args:
            names = source.resolve(node.func)
            if names & _LOOKUPS:
                first = names & {"builtins.getattr", "builtins.setattr"} and len(node.args) > 1
                key = node.args[1] if first else node.args[0]
        elif isinstance(node, ast.Subscript):
            table = node.value
            is_vars = isinstance(table, ast.Call) and source.resolve(table.func) & {"builtins.vars", "builtins.globals"}
            if is_vars or (isinstance(table, ast.Attribute) and table.attr in ("__dict__", "modules")):
                key = node.slice
        if key is not None and isinstance(key, (ast.BinOp, ast.JoinedStr, ast.Call, ast.Subscript)):
            text = source.fold(key)
            if text is not None:
                yield hit(node, f"puts the name {text!r} together from pieces; write it out")


RULE = Rule("KE125", "hides-names", "warn", check, __doc__)
