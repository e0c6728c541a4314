"""Who may execute whom: a closure over every name that is mentioned, so that no alias or registry is missed."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property

from kengine.lint.names import Resolver

_Function = (ast.FunctionDef, ast.AsyncFunctionDef)
_Definition = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Graph:
    """Mentions between the definitions of a file.

    A definition counts as reached when its name stands anywhere in reached code: as a name, as an attribute (methods,
    `torch.ops.space.name`), or in a string (registries, `globals()`, custom operators). What registers itself through
    a decorator is reached with any name that this decorator touches. So "not reached" is certain unless code is
    built at run time, and "reached" is not.
    """

    def __init__(self, tree: ast.Module, names: Resolver) -> None:
        self.tree = tree
        self.names = names
        self.owners: dict[str, list[ast.AST]] = {}
        for node in ast.walk(tree):
            if isinstance(node, _Definition):
                self._own(node.name, node)
        for statement in _statements(tree.body):
            for name in _bound(statement):
                self._own(name, statement)
            for name in _changed(statement):
                self._own(name, statement)
        for node in ast.walk(tree):
            if isinstance(node, _Definition):
                for decorator in node.decorator_list:
                    self._register(node, decorator)

    def reach(self, names: Collection[str]) -> frozenset[ast.AST]:
        """Nodes of every definition and module-level statement that these names lead to."""
        return self._close(names, [])

    def reach_from_import(self) -> frozenset[ast.AST]:
        """Nodes that importing the module may execute."""
        return self._close([], [*self.executed])

    @cached_property
    def executed(self) -> list[ast.AST]:
        """What an import executes: statements, bodies of classes, decorators and defaults.

        Not bodies of functions, and not what stands under `if __name__ == "__main__":`.
        """
        found: list[ast.AST] = []
        pending: list[ast.AST] = list(self.tree.body)
        while pending:
            node = pending.pop()
            found.append(node)
            if isinstance(node, ast.If) and _is_script(node.test):
                pending += node.orelse
            elif isinstance(node, _Function):
                pending += node.decorator_list
                pending += [d for d in (*node.args.defaults, *node.args.kw_defaults) if d is not None]
            elif not isinstance(node, ast.Lambda):
                pending += ast.iter_child_nodes(node)
        return found

    def _close(self, names: Collection[str], nodes: Iterable[ast.AST]) -> frozenset[ast.AST]:
        found: set[ast.AST] = set(nodes)
        seen: set[str] = set()
        pending: list[str] = list(names)
        for node in list(found):
            if not (isinstance(node, _Definition)):
                pending += self._mentions_of(node)
        while pending:
            name = pending.pop()
            if name in seen:
                continue
            seen.add(name)
            for owner in self.owners.get(name, ()):
                if owner in found and not isinstance(owner, _Definition):
                    continue
                for node in ast.walk(owner):
                    found.add(node)
                    pending += self._mentions_of(node)
        return frozenset(found)

    def _mentions_of(self, node: ast.AST) -> Iterator[str]:
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.alias):
            yield node.name
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            last = node.value.rpartition("::")[2].rpartition(".")[2]
            if last.isidentifier():
                yield last
        elif isinstance(node, (ast.BinOp, ast.JoinedStr, ast.Call, ast.Subscript)):
            text = self.names.fold(node)
            if isinstance(text, str) and text.isidentifier():
                yield text

    def _own(self, name: str, node: ast.AST) -> None:
        owners = self.owners.setdefault(name, [])
        if node not in owners:
            owners.append(node)

    def _register(self, node: ast.AST, decorator: ast.expr) -> None:
        """Tie a decorated definition to the names that its decorator touches (a registry, an operator's name)."""
        for inner in ast.walk(decorator):
            for name in self._mentions_of(inner):
                if isinstance(inner, ast.Constant):
                    self._own(name, node)
                for owner in self.owners.get(name, ()):
                    if isinstance(owner, _Function) and owner is not node:
                        for touched in ast.walk(owner):
                            if isinstance(touched, ast.Name) and touched.id != name and touched.id in self.owners:
                                self._own(touched.id, node)
            if (
                isinstance(inner, ast.Name)
                and inner.id in self.owners
                and not any(isinstance(o, _Definition) for o in self.owners[inner.id])
            ):
                self._own(inner.id, node)  # @registry.add: an object of the module itself


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Simple statements at the top level, those inside `if`, `try`, `with` and loops included."""
    for node in body:
        if isinstance(node, _Definition):
            continue
        inner = [getattr(node, part, []) for part in ("body", "orelse", "finalbody")]
        inner += [handler.body for handler in getattr(node, "handlers", [])]
        if any(inner):
            for block in inner:
                yield from _statements(block)
        else:
            yield node


def _is_script(test: ast.expr) -> bool:
    """Whether a test is `__name__ == "__main__"`."""
    if not (isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq)):
        return False
    sides = (test.left, test.comparators[0])
    named = any(isinstance(s, ast.Name) and s.id == "__name__" for s in sides)
    return named and any(isinstance(s, ast.Constant) and s.value == "__main__" for s in sides)


def _bound(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            for inner in ast.walk(target):
                if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                    yield inner.id


def _changed(node: ast.stmt) -> Iterator[str]:
    """Objects that a statement alters: `TABLE[k] = f`, `TABLE.append(f)`, `library.impl("name", f)`."""
    target: ast.AST | None = None
    if isinstance(node, ast.Assign):
        target = node.targets[0]
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        target = node.value.func
        for inner in ast.walk(node.value):
            if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
                last = inner.value.rpartition("::")[2]
                if last.isidentifier():
                    yield last
    if isinstance(target, (ast.Attribute, ast.Subscript)):
        while isinstance(target, (ast.Attribute, ast.Subscript)):
            target = target.value
        if isinstance(target, ast.Name):
            yield target.id
