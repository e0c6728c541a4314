"""Which expressions are certainly numbers, made of constants, shapes and loop variables, and not tensors."""

from __future__ import annotations

import ast
from functools import lru_cache

from kengine.lint.scopes import Binding
from kengine.lint.source import SourceTree

_BINDINGS = 16
_DEPTH = 40
_COUNTS = frozenset({"program_id", "num_programs", "program_ndim"})
_SCALARS = frozenset({"builtins.len", "builtins.int", "builtins.float"})


class Sizes:
    """Answers for one file; what the text does not say is no number."""

    def __init__(self, source: SourceTree) -> None:
        self.source = source
        self._known: dict[ast.AST, bool] = {}
        self._depth = 0

    def is_number(self, node: ast.AST | None) -> bool:
        """Whether an expression is a number, whatever its value."""
        if node is None or self._depth > _DEPTH:
            return False
        if node not in self._known:
            self._known[node] = False
            self._depth += 1
            try:
                self._known[node] = self._decide(node)
            finally:
                self._depth -= 1
        return self._known[node]

    def _decide(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Constant):
            return True
        if isinstance(node, ast.BinOp):
            return self.is_number(node.left) and self.is_number(node.right)
        if isinstance(node, ast.UnaryOp):
            return self.is_number(node.operand)
        if isinstance(node, ast.Subscript):
            return isinstance(node.value, ast.Attribute) and node.value.attr == "shape"
        if isinstance(node, ast.Attribute):
            return any(".tile_size." in n for n in self.source.resolve(node))
        if isinstance(node, ast.Call):
            return self._is_call(node)
        if isinstance(node, ast.Name):
            found = self.source.scopes.lookup(node.id, node)
            return 0 < len(found) <= _BINDINGS and all(map(self._is_binding, found))
        return False

    def _is_call(self, node: ast.Call) -> bool:
        names = self.source.resolve(node.func)
        if not names:
            return False
        if names <= _SCALARS or all(n.rpartition(".")[2] in _COUNTS for n in names):
            return True
        return all(n.startswith(("math.", "builtins.")) for n in names) and all(map(self.is_number, node.args))

    def _is_binding(self, binding: Binding) -> bool:
        node = binding.node
        if binding.kind == "item" and isinstance(node, ast.Call):
            return any(n.endswith("range") for n in self.source.resolve(node.func))
        if binding.kind == "value":
            return self.is_number(node)
        if binding.kind == "unknown" and node is not None:  # rows, columns = x.shape
            parent = self.source.parents.get(node)
            statement = self.source.parents.get(parent) if parent is not None else None
            value = statement.value if isinstance(statement, ast.Assign) else None
            return isinstance(parent, ast.Tuple) and isinstance(value, ast.Attribute) and value.attr == "shape"
        return False


@lru_cache(maxsize=16)
def find_sizes(source: SourceTree) -> Sizes:
    """The answers for a file."""
    return Sizes(source)
