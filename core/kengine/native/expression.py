"""Arithmetic of launch blocks: `ceil_div(x.numel(), 256)`, `x.shape[0]`, `n * 4`. Parsed, never executed."""

from __future__ import annotations

import ast
import functools
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, Union

from kengine.syntax import parse_tree

MAX_LENGTH = 1000
MAX_VALUE = 1 << 63

Value = Union[int, float, bool, "Extent"]


class ExpressionError(ValueError):
    """An expression that cannot be read or evaluated; says which and why."""


@dataclass(frozen=True)
class Extent:
    """What an expression may know of an array: sizes and strides in elements, and bytes of one element."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    itemsize: int

    @property
    def numel(self) -> int:
        """How many elements."""
        return prod(self.shape)


_BINARY: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.LShift: operator.lshift, ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor, ast.Pow: operator.pow,
}  # fmt: skip
_COMPARE: Mapping[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}  # fmt: skip
_UNARY: Mapping[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Not: operator.not_, ast.Invert: operator.invert,
}  # fmt: skip


def _ceil_div(a: int, b: int) -> int:
    return -(-a // b)


def _next_power_of_2(n: int) -> int:
    return 1 << max(0, int(n) - 1).bit_length()


_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "ceil_div": _ceil_div, "cdiv": _ceil_div, "next_power_of_2": _next_power_of_2, "min": min, "max": max, "abs": abs,
    "int": int, "float": float, "len": lambda extent: extent.shape[0],
}  # fmt: skip
_METHODS = ("numel", "size", "stride", "dim", "element_size")
_ATTRIBUTES = ("shape", "strides", "ndim", "itemsize", "nbytes")


def evaluate(text: str, names: Mapping[str, Any]) -> int | float | bool:
    """Evaluate one expression over names of numbers and arrays (`Extent`). Raises ExpressionError."""
    tree = _parse(text)
    try:
        value = _Evaluator(names).visit(tree)
    except ExpressionError as error:
        raise ExpressionError(f"{text!r}: {error}") from None
    except (ArithmeticError, TypeError, ValueError, IndexError, RecursionError) as error:
        raise ExpressionError(f"{text!r}: {error}") from None
    if isinstance(value, (Extent, tuple)) or not isinstance(value, (int, float)):
        raise ExpressionError(f"{text!r} is not a number")
    return value


def names_in(text: str) -> set[str]:
    """Names that an expression uses. Raises ExpressionError when it cannot be read."""
    return {node.id for node in ast.walk(_parse(text)) if isinstance(node, ast.Name)} - set(_FUNCTIONS)


@functools.lru_cache(maxsize=256)
def _parse(text: str) -> ast.expr:
    if len(text) > MAX_LENGTH:
        raise ExpressionError(f"{text[:40]!r}... is longer than {MAX_LENGTH} characters")
    try:
        return parse_tree(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ExpressionError(f"{text!r} is not an expression") from None


class _Evaluator:
    def __init__(self, names: Mapping[str, Any]) -> None:
        self.names = names

    def visit(self, node: ast.expr) -> Any:
        value = self._visit(node)
        if isinstance(value, int) and abs(value) > MAX_VALUE:
            raise ExpressionError("a value above 2^63")
        return value

    def _visit(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            return node.value
        if isinstance(node, ast.Name):
            if node.id not in self.names:
                known = ", ".join(sorted(self.names)) or "none"
                raise ExpressionError(f"no value is called {node.id!r}; known: {known}")
            return self.names[node.id]
        if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
            left, right = self.visit(node.left), self.visit(node.right)
            if isinstance(node.op, (ast.Pow, ast.LShift)) and not 0 <= right <= 64:
                raise ExpressionError("an exponent or shift outside 0 to 64")
            return _BINARY[type(node.op)](left, right)
        if isinstance(node, ast.UnaryOp):
            return _UNARY[type(node.op)](self.visit(node.operand))
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _COMPARE:
            return _COMPARE[type(node.ops[0])](self.visit(node.left), self.visit(node.comparators[0]))
        if isinstance(node, ast.IfExp):
            return self.visit(node.body) if self.visit(node.test) else self.visit(node.orelse)
        if isinstance(node, ast.BoolOp):
            values = [self.visit(value) for value in node.values]
            return all(values) if isinstance(node.op, ast.And) else any(values)
        if isinstance(node, ast.Subscript):
            value = self.visit(node.value)
            if not isinstance(value, tuple):
                raise ExpressionError("only shape and strides can be subscripted")
            return value[self.visit(node.slice)]
        if isinstance(node, ast.Attribute):
            return self._attribute(node)
        if isinstance(node, ast.Call) and not node.keywords:
            return self._call(node)
        raise ExpressionError(f"{type(node).__name__} is not allowed here")

    def _attribute(self, node: ast.Attribute) -> Any:
        extent = self.visit(node.value)
        if not isinstance(extent, Extent) or node.attr not in _ATTRIBUTES:
            raise ExpressionError(f".{node.attr} is not known; arrays have {', '.join(_ATTRIBUTES)}")
        extra = {"ndim": len(extent.shape), "nbytes": extent.numel * extent.itemsize}
        return extra[node.attr] if node.attr in extra else getattr(extent, node.attr)

    def _call(self, node: ast.Call) -> Any:
        arguments = [self.visit(argument) for argument in node.args]
        if isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS:
            return _FUNCTIONS[node.func.id](*arguments)
        if isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS:
            extent = self.visit(node.func.value)
            if isinstance(extent, Extent):
                return _METHOD[node.func.attr](extent, *arguments)
        raise ExpressionError(f"unknown function; there are {', '.join(_FUNCTIONS)} and x.{', x.'.join(_METHODS)}")


_METHOD: Mapping[str, Callable[..., Any]] = {
    "numel": lambda extent: extent.numel,
    "size": lambda extent, axis: extent.shape[axis],
    "stride": lambda extent, axis: extent.strides[axis],
    "dim": lambda extent: len(extent.shape),
    "element_size": lambda extent: extent.itemsize,
}
