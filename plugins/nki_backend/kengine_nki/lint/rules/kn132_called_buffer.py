"""A memory is called or subscripted.

What it does:
Finds `nl.sbuf(...)`, `nl.psum[...]` and the like.

Why is this bad:
`nl.sbuf` names a memory; it is no function that allocates in it and no array of its bytes.

Example:
    y = nl.sbuf((128, 512), dtype=nl.float32)

Use instead:
    y = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

from kengine_nki.lint.api import split
from kengine_nki.lint.tiles import MEMORIES


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at what is called or subscripted."""
    for node in source.live:
        if isinstance(node, ast.Call):
            used: ast.expr = node.func
            what = "called"
        elif isinstance(node, ast.Subscript):
            used, what = node.value, "subscripted"
        else:
            continue
        if not isinstance(used, (ast.Name, ast.Attribute)):
            continue
        found = [split(n) for n in source.resolve(used)]
        name = found[0] if len(found) == 1 else None
        if name is not None and name.module == "language" and name.member in MEMORIES:
            yield hit(
                node,
                f"{name.short} is a memory and cannot be {what}; allocate with nl.ndarray(..., buffer={name.short})",
            )


RULE = Rule("KN132", "called-buffer", "warn", check, __doc__)
