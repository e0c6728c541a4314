"""Bindings of names, scope by scope, in one parsed file."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Union

Kind = Literal["import", "value", "item", "definition", "parameter", "unknown"]
_Function = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_SCOPES = (*_Function, ast.ClassDef)
_Comprehension = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
Scope = Union[ast.Module, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef]


@dataclass(frozen=True)
class Binding:
    """One way in which a name gets its value.

    import: `dotted` names it. value: `node` is the expression. item: `node` is a collection and the value is one of
    its items. definition: `node` is the function or class.
    """

    kind: Kind
    node: ast.AST | None = None
    dotted: str = ""


class Scopes:
    """Every binding of every scope, and which scope a name at a node belongs to."""

    def __init__(self, tree: ast.Module, nodes: Sequence[ast.AST], parents: Mapping[ast.AST, ast.AST]) -> None:
        """nodes: those of the tree, parents before their children."""
        self.tree = tree
        self.parents = parents
        self.bindings: dict[ast.AST, dict[str, list[Binding]]] = {tree: {}}
        self.outer: dict[ast.AST, set[str]] = {}
        self._around: dict[ast.AST, ast.AST] = {}
        for node in nodes:
            parent = parents.get(node, tree)
            self._around[node] = parent if isinstance(parent, _SCOPES) else self._around.get(parent, tree)
            if isinstance(node, (ast.Global, ast.Nonlocal)):
                self.outer.setdefault(self._around[node], set()).update(node.names)
        for node in nodes:
            self._visit(node)

    def scope_of(self, node: ast.AST) -> ast.AST:
        """The function, class or module whose body a node stands in."""
        return self._around.get(node, self.tree)

    def lookup(self, name: str, node: ast.AST) -> list[Binding]:
        """Bindings of a name as seen from a node; empty for builtins and names that nobody binds."""
        scope: ast.AST = node if isinstance(node, ast.Module) else self.scope_of(node)
        first = True
        while True:
            visible = first or not isinstance(scope, ast.ClassDef)
            found = self.bindings.get(scope, {}).get(name)
            if found and visible and name not in self.outer.get(scope, ()):
                return found
            if scope is self.tree:
                return []
            scope, first = self.scope_of(scope), False

    def add(self, scope: ast.AST, name: str, binding: Binding) -> None:
        """Note one binding; a global one is noted at the module."""
        if name in self.outer.get(scope, ()):
            scope = self.tree
        self.bindings.setdefault(scope, {}).setdefault(name, []).append(binding)

    def _visit(self, node: ast.AST) -> None:
        scope = self.scope_of(node)
        if isinstance(node, ast.Import):
            for alias in node.names:
                dotted = alias.name if alias.asname else alias.name.split(".")[0]
                self.add(scope, alias.asname or dotted, Binding("import", node, dotted))
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            for alias in node.names:
                self.add(scope, alias.asname or alias.name, Binding("import", node, f"{module}.{alias.name}"))
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            self.add(scope, node.name, Binding("definition", node))
        if isinstance(node, _Function):
            args = node.args
            every = [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]
            for arg in every:
                if arg is not None:
                    self.add(node, arg.arg, Binding("parameter", arg))
            positional = [*args.posonlyargs, *args.args]
            for arg, default in zip(positional[len(positional) - len(args.defaults) :], args.defaults):
                self.add(node, arg.arg, Binding("value", default))
            for arg, default_or_none in zip(args.kwonlyargs, args.kw_defaults):
                if default_or_none is not None:
                    self.add(node, arg.arg, Binding("value", default_or_none))
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                self._assign(scope, target, node.value)
        elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)):
            if node.value is not None:
                self._assign(scope, node.target, node.value)
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
            self._each(scope, node.target, node.iter)
        elif isinstance(node, (ast.withitem, ast.AugAssign)):
            target_or_none = node.optional_vars if isinstance(node, ast.withitem) else node.target
            if target_or_none is not None:
                self._unknown(scope, target_or_none)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            self.add(scope, node.name, Binding("unknown", node))

    def _assign(self, scope: ast.AST, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self.add(scope, target.id, Binding("value", value))
        elif isinstance(target, (ast.Tuple, ast.List)):
            plain = not any(isinstance(e, ast.Starred) for e in target.elts)
            if plain and isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts):
                for one, its in zip(target.elts, value.elts):
                    self._assign(scope, one, its)
            else:
                self._unknown(scope, target)

    def _each(self, scope: ast.AST, target: ast.expr, iterated: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self.add(scope, target.id, Binding("item", iterated))
        elif (
            isinstance(target, (ast.Tuple, ast.List))
            and isinstance(iterated, (ast.Tuple, ast.List))
            and all(isinstance(e, (ast.Tuple, ast.List)) for e in iterated.elts)
        ):
            for row in iterated.elts:
                self._assign(scope, target, row)
        else:
            self._unknown(scope, target)

    def _unknown(self, scope: ast.AST, target: ast.expr) -> None:
        for node in ast.walk(target):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self.add(scope, node.id, Binding("unknown", node))
