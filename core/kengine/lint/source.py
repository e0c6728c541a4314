"""One parsed file of a candidate, and all that rules ask about it: parents, scopes, names, reach."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property
from typing import Any, TypeVar

from kengine.lint.graph import Graph
from kengine.lint.names import Resolver
from kengine.lint.scopes import Scopes

Node = TypeVar("Node", bound=ast.AST)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class SourceTree:
    """A Python file under lint. `entry` is the candidate's name in it, "" in a further file, where all counts as live.

    Comments are not in the tree, and strings are only looked at where code uses them as names.
    """

    def __init__(self, text: str, tree: ast.Module, path: str = "candidate.py", entry: str = "") -> None:
        self.text = text
        self.tree = tree
        self.path = path
        self.entry = entry
        self.nodes: list[ast.AST] = [tree]
        self.parents: dict[ast.AST, ast.AST] = {}
        for node in self.nodes:  # in the order of ast.walk; the list grows on the way
            children = list(ast.iter_child_nodes(node))
            self.parents.update(dict.fromkeys(children, node))
            self.nodes += children
        self.scopes = Scopes(tree, self.nodes, self.parents)
        self.names = Resolver(self.scopes)
        self._found: dict[tuple[Any, str], list[Any]] = {}

    @cached_property
    def graph(self) -> Graph:
        """Who mentions whom."""
        return Graph(self.tree, self.names)

    @cached_property
    def reached(self) -> frozenset[ast.AST]:
        """Every node that calling the entry may execute, following all names that are mentioned on the way."""
        return self.graph.reach({self.entry}) if self.entry else frozenset(self.nodes)

    @cached_property
    def live(self) -> list[ast.AST]:
        """Nodes that importing the file or calling the entry may execute, in order of appearance."""
        if not self.entry:
            return self.nodes
        alive = self.reached | self.graph.reach_from_import()
        return [node for node in self.nodes if node in alive]

    def find(self, kind: type[Node], within: str = "live") -> Iterator[Node]:
        """Nodes of one type among the live (or `reached`, or `all`) ones."""
        found = self._found.get((kind, within))
        if found is None:
            if within == "reached":
                pool = [node for node in self.nodes if node in self.reached]
            else:
                pool = self.live if within == "live" else self.nodes
            found = self._found[kind, within] = [node for node in pool if isinstance(node, kind)]
        yield from found

    def resolve(self, node: ast.AST) -> frozenset[str]:
        """Dotted names that an expression may stand for: `torch.matmul`, `builtins.exec`, `@name` for a local one."""
        return self.names.resolve(node)

    def fold(self, node: ast.AST) -> str | None:
        """The text that an expression of constants makes, None when it is not constant."""
        value = self.names.fold(node)
        return value if isinstance(value, str) else None

    def function_of(self, node: ast.AST) -> ast.AST | None:
        """The innermost function around a node."""
        found = self.scopes.scope_of(node)
        while isinstance(found, ast.ClassDef):
            found = self.scopes.scope_of(found)
        return found if isinstance(found, FUNCTIONS) else None

    def calls(self, within: str = "live") -> Iterator[tuple[ast.Call, frozenset[str]]]:
        """Calls with the names that their function may have."""
        for node in self.find(ast.Call, within):
            yield node, self.resolve(node.func)

    def references(self) -> list[tuple[ast.expr, str]]:
        """Live expressions that name something imported or built in, the outermost ones, once for each name."""
        return self._references

    @cached_property
    def _references(self) -> list[tuple[ast.expr, str]]:
        found: list[tuple[ast.expr, str]] = []
        for node in self.live:
            if not isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)):
                continue
            if isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del)):
                continue
            parent = self.parents.get(node)
            if isinstance(parent, ast.Attribute) and self.resolve(parent):
                continue
            found += [(node, name) for name in sorted(self.resolve(node)) if not name.startswith("@")]
        return found
