"""The candidate counts its calls and decides by the count.

What it does:
Finds counters that outlive a call (globals, attributes, function attributes, `itertools.count`) and stand in a
condition of code that the entry reaches.

Why is this bad:
The first calls are warm-up or checks, later ones are measured: a count tells them apart. It is a warning: the number
and order of calls are random, and answers of measured calls are checked.

Example:
    CALLS += 1
    if CALLS > 3:
        return LAST

Use instead:
    Do the same in every call.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at what is added to, and at conditions."""
    counters: dict[str, ast.AST] = {}
    for node in source.find(ast.AugAssign, "reached"):
        if (
            isinstance(node.op, (ast.Add, ast.Sub))
            and isinstance(node.value, ast.Constant)
            and _outlives(source, node.target)
        ):
            counters[_name(node.target)] = node
    for call, names in source.calls("reached"):
        if "builtins.next" in names and call.args and isinstance(call.args[0], (ast.Name, ast.Attribute)):
            bound = source.scopes.lookup(_name(call.args[0]), call)
            if any(isinstance(b.node, ast.Call) and "itertools.count" in source.resolve(b.node.func) for b in bound):
                yield hit(call, "counts its calls; do the same in every call")
    tests = [n.test for n in source.find(ast.If, "reached")]
    tests += [n.test for n in source.find(ast.IfExp, "reached")]
    tests += [n.test for n in source.find(ast.While, "reached")]
    asked = {_name(n) for test in tests for n in ast.walk(test) if isinstance(n, (ast.Name, ast.Attribute))}
    for name, counter in counters.items():
        if name in asked:
            yield hit(counter, f"counts in {name!r} and decides by it; do the same in every call")


def _name(node: ast.AST) -> str:
    return getattr(node, "attr", getattr(node, "id", ""))


def _outlives(source: SourceTree, target: ast.expr) -> bool:
    if isinstance(target, ast.Attribute):
        return isinstance(target.value, ast.Name)
    if isinstance(target, ast.Subscript):
        return False
    return isinstance(target, ast.Name) and source.scopes.scope_of(target) is not source.tree and (
        target.id in source.scopes.outer.get(source.scopes.scope_of(target), ())
    )  # fmt: skip


RULE = Rule("KE128", "counts-calls", "warn", check, __doc__)
