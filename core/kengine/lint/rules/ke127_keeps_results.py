"""A result is kept and may be handed out again.

What it does:
Finds functions that launch, or that the entry is, under `lru_cache` or `cache`; tables, globals, attributes of
functions and of the module, and default arguments into which a value goes that a kernel wrote, and which are read
before the launch.

Why is this bad:
A table keyed by shape answers the second call with the first call's result. Caching the entry itself is rejected: a
tensor is hashed by identity, not by contents. The rest is a warning: the judge sends fresh contents in every call, and
caches of plans, workspaces and packed weights are honest.

Example:
    @functools.lru_cache(maxsize=None)
    def candidate(x, w):
        ...

Use instead:
    Compute in every call; cache what depends on shape, dtype and device only.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kengine.lint.launch import subscript_launches
from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

_CACHES = frozenset({"functools.lru_cache", "functools.cache", "functools.cached_property", "cachetools.cached"})


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at decorators of functions that launch, and at what outlives a call."""
    launching: dict[ast.AST, ast.Call] = {}
    for call in subscript_launches(source):
        function = source.function_of(call)
        if function is not None:
            launching.setdefault(function, call)
    for node in source.find(ast.FunctionDef, "reached"):
        for decorator in node.decorator_list:
            if source.resolve(decorator.func if isinstance(decorator, ast.Call) else decorator) & _CACHES:
                entry = node.name in (source.entry, "forward") and len(node.args.args) > 0
                if entry or node in launching:
                    yield hit(node, f"{node.name!r} is answered from a cache by the identity of its arguments",
                              "reject" if entry else "warn")  # fmt: skip
    for call, names in source.calls():
        if names & _CACHES and call.args and isinstance(call.args[0], ast.Name) and call.args[0].id == source.entry:
            yield hit(call, f"{source.entry!r} is answered from a cache by the identity of its arguments", "reject")
    for function, launch in launching.items():
        yield from _kept(source, function, launch)


def _kept(source: SourceTree, function: ast.AST, launch: ast.Call) -> Iterator[Hit]:
    """Values that are stored beyond the call and returned from there."""
    written = {a.id for a in launch.args if isinstance(a, ast.Name)}
    stored: list[tuple[ast.AST, str]] = []
    returned = {ast.dump(n) for r in ast.walk(function) if isinstance(r, ast.Return) and r.value is not None
                for n in ast.walk(r.value) if isinstance(n, (ast.Subscript, ast.Attribute, ast.Name))}  # fmt: skip
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and node.value.id in written:
            for target in node.targets:
                if isinstance(target, (ast.Subscript, ast.Attribute)) and _outlives(source, target):
                    stored.append((node, ast.dump(target).replace("Store()", "Load()")))
    for node, place in stored:
        if place in returned:
            yield hit(node, "keeps what a kernel wrote and returns it from there; compute in every call")


def _outlives(source: SourceTree, target: ast.expr) -> bool:
    while isinstance(target, (ast.Subscript, ast.Attribute)):
        target = target.value
    if not isinstance(target, ast.Name):
        return False
    bindings = source.scopes.lookup(target.id, target)
    own = any(b in source.scopes.bindings[source.tree].get(target.id, ()) for b in bindings)
    return (
        own
        or target.id == "self"
        or any(b.kind == "value" and isinstance(b.node, (ast.Dict, ast.List)) for b in bindings)
    )


RULE = Rule("KE127", "keeps-results", "warn", check, __doc__)
