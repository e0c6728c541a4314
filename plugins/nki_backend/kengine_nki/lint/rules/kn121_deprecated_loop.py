"""A loop form that is deprecated since release 0.6 and gone in 0.7.

What it does:
Finds `nl.dynamic_range` and `while` loops over a register.

Why is this bad:
Release 0.7 has neither. `nl.fori_loop` and `nl.while_loop` run loops on the device; other loops are unrolled.

Example:
    for i in nl.dynamic_range(n):
        step(i)

Use instead:
    nl.fori_loop(0, n, step)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at loops."""
    for call, names in source.calls():
        if "nki.language.dynamic_range" in names:
            yield hit(call, "nl.dynamic_range is deprecated since NKI 0.6 and gone in 0.7; use nl.fori_loop")
    for loop in source.find(ast.While):
        if isinstance(loop.test, ast.Name) and _is_register(source, loop.test):
            yield hit(loop, f"`while {loop.test.id}` over a register is deprecated since NKI 0.6; use nl.while_loop")


def _is_register(source: SourceTree, node: ast.Name) -> bool:
    return any(
        isinstance(b.node, ast.Call) and "nki.isa.register_alloc" in source.resolve(b.node.func)
        for b in source.scopes.lookup(node.id, node)[:16]
    )


RULE = Rule("KN121", "deprecated-loop", "warn", check, __doc__)
