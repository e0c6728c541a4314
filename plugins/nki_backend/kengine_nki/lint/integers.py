"""What integer an expression comes to, where constants, limits and known shapes say so."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from functools import lru_cache

from kengine.lint.source import SourceTree

from kengine_nki.lint.limits import TILE_SIZE

_LARGEST = 1 << 62
_DEPTH = 40
_TERMS = 32


class Integers:
    """Evaluates nothing of the candidate: only arithmetic on constants. A name counts when it has one binding."""

    def __init__(self, source: SourceTree, extra: Callable[[ast.expr], int | None] | None = None) -> None:
        self.source = source
        self.extra = extra
        self._known: dict[ast.AST, int | float | None] = {}
        self._sums: dict[ast.AST, dict[str, int] | None] = {}
        self._depth = 0

    def integer(self, node: ast.AST | None) -> int | None:
        """The integer, None when it is not certain."""
        value = self.number(node)
        return value if isinstance(value, int) else None

    def number(self, node: ast.AST | None) -> int | float | None:
        """The number, None when it is not certain or absurdly large."""
        if node is None or self._depth > _DEPTH:
            return None
        if node not in self._known:
            self._known[node] = None
            self._depth += 1
            try:
                value = self._number(node)
            except (ArithmeticError, ValueError, TypeError):
                value = None
            finally:
                self._depth -= 1
            if value is not None and (isinstance(value, bool) or not abs(value) < _LARGEST):
                value = None
            self._known[node] = value
        return self._known[node]

    def difference(self, upper: ast.expr, lower: ast.expr) -> int | None:
        """upper - lower, also when both hold the same unknown terms, as in `x[i * 128 : (i + 1) * 128]`."""
        high, low = self._linear(upper, 0), self._linear(lower, 0)
        if high is None or low is None:
            return None
        terms = {name: high.get(name, 0) - low.get(name, 0) for name in {*high, *low}}
        return terms.pop("", 0) if not any(v for k, v in terms.items() if k) else None

    def _number(self, node: ast.AST) -> int | float | None:
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, (int, float)) else None
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
            value = self.number(node.operand)
            return value if value is None or isinstance(node.op, ast.UAdd) else -value
        if isinstance(node, ast.BinOp):
            left, right = self.number(node.left), self.number(node.right)
            return None if left is None or right is None else _apply(node.op, left, right)
        if isinstance(node, ast.Name):
            return self.number(self._bound(node))
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.Attribute):
            for dotted in self.source.resolve(node):
                head, _, last = dotted.rpartition(".")
                if head in ("nki.language.tile_size", "neuronxcc.nki.language.tile_size"):
                    return TILE_SIZE.get(last)
        if self.extra is not None and isinstance(node, ast.expr):
            return self.extra(node)
        return None

    def _bound(self, node: ast.Name) -> ast.AST | None:
        found = self.source.scopes.lookup(node.id, node)
        return found[0].node if len(found) == 1 and found[0].kind == "value" else None

    def _call(self, node: ast.Call) -> int | float | None:
        names = self.source.resolve(node.func)
        if len(names) != 1 or node.keywords or not node.args:
            return None
        values = [self.number(a) for a in node.args]
        known = [v for v in values if v is not None]
        if len(known) != len(values):
            return None
        name = next(iter(names))
        if name == "builtins.min" and len(known) > 1:
            return min(known)
        if name == "builtins.max" and len(known) > 1:
            return max(known)
        if len(known) == 1 and name in ("math.ceil", "numpy.ceil", "math.floor", "builtins.int", "builtins.abs"):
            one = known[0]
            if name.endswith(".ceil"):
                return math.ceil(one)
            return math.floor(one) if name.endswith(".floor") else int(one) if name.endswith(".int") else abs(one)
        return None

    def _linear(self, node: ast.expr, depth: int) -> dict[str, int] | None:
        """Coefficients of the unknown terms of a sum, the constant under ""."""
        if node not in self._sums:
            self._sums[node] = None
            self._sums[node] = self._expand(node, depth)
        return self._sums[node]

    def _expand(self, node: ast.expr, depth: int) -> dict[str, int] | None:
        value = self.integer(node)
        if value is not None:
            return {"": value}
        if depth > 12:
            return None
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
            left, right = self._linear(node.left, depth + 1), self._linear(node.right, depth + 1)
            if left is None or right is None or len(left) + len(right) > _TERMS:
                return None
            sign = 1 if isinstance(node.op, ast.Add) else -1
            return {k: left.get(k, 0) + sign * right.get(k, 0) for k in {*left, *right}}
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            for factor, rest in ((node.left, node.right), (node.right, node.left)):
                by = self.integer(factor)
                terms = self._linear(rest, depth + 1) if by is not None else None
                if by is not None and terms is not None:
                    return {k: by * v for k, v in terms.items()}
        if isinstance(node, ast.Name):
            bound = self._bound(node)
            if isinstance(bound, ast.BinOp):
                return self._linear(bound, depth + 1)
        return {ast.dump(node): 1}


def _apply(op: ast.operator, left: int | float, right: int | float) -> int | float | None:
    if isinstance(op, ast.Add):
        return left + right
    if isinstance(op, ast.Sub):
        return left - right
    if isinstance(op, ast.Mult):
        return left * right
    if isinstance(op, ast.Div):
        return left / right
    if isinstance(op, ast.FloorDiv):
        return left // right
    if isinstance(op, ast.Mod):
        return left % right
    if isinstance(left, int) and isinstance(right, int) and 0 <= right <= 62:
        if isinstance(op, ast.LShift):
            return left << right
        if isinstance(op, ast.RShift):
            return left >> right
        if isinstance(op, ast.Pow) and abs(left) <= 1 << 16 and right <= 4:
            return int(left**right)
        if isinstance(op, ast.Pow) and abs(left) == 2:
            return int(left**right)
    return None


@lru_cache(maxsize=16)
def integers(source: SourceTree) -> Integers:
    """The evaluator of a file, without shapes."""
    return Integers(source)
