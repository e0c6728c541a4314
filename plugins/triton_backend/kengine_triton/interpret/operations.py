"""Operators in a kernel: of its blocks and numbers as they are, of a candidate's own constants as a compiler has them.

A compiler computes `PLAN + 1` or `PLAN["rows"]` once, as host code, and knows no operator of such an object with a
block. Triton's interpreter would hand it the block, and with it the data.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from kengine.runner import watch

from kengine_triton.interpret import references
from kengine_triton.interpret.classes import computes, is_own, plain, simple

BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "Add": operator.add, "Sub": operator.sub, "Mult": operator.mul, "MatMult": operator.matmul, "Div": operator.truediv,
    "FloorDiv": operator.floordiv, "Mod": operator.mod, "Pow": operator.pow, "LShift": operator.lshift,
    "RShift": operator.rshift, "BitAnd": operator.and_, "BitOr": operator.or_, "BitXor": operator.xor,
    "Lt": operator.lt, "LtE": operator.le, "Gt": operator.gt, "GtE": operator.ge,
}  # fmt: skip
"""Functions of binary operators and of comparisons, by the names of their nodes."""
UNARY: dict[str, Callable[[Any], Any]] = {"USub": operator.neg, "UAdd": operator.pos, "Invert": operator.invert}


def binary(left: Any, right: Any, name: str) -> Any:
    """An operator between two values; host code only where both are constants."""
    a, b = plain(left), plain(right)
    if not computes(type(a)) and not computes(type(b)):
        return BINARY[name](left, right)
    if _is_value(a) or _is_value(b):
        a, b = simple(a), simple(b)
        if computes(type(a)) or computes(type(b)):
            raise _refuse_pair(a, b)
        return BINARY[name](a, b)
    return references.at_compile_time(BINARY[name], (a, b), {})


def unary(value: Any, name: str) -> Any:
    """An operator of one value."""
    inner = plain(value)
    return references.at_compile_time(UNARY[name], (inner,), {}) if computes(type(inner)) else UNARY[name](value)


def compare(left: Any, right: Any, equal: bool) -> Any:
    """`==` or `!=`; of the candidate's own objects it is computed as host code."""
    a, b = plain(left), plain(right)
    if not is_own(a) and not is_own(b):
        return left == right if equal else left != right
    if _is_value(a) or _is_value(b):
        a, b = simple(a), simple(b)
        if is_own(a) or is_own(b):
            raise _refuse_pair(a, b)
        return a == b if equal else a != b
    with watch.resume():
        return bool(a == b) if equal else bool(a != b)


def truth(value: Any) -> Any:
    """A value for `if`, `and`, `or` and `not`: objects of the candidate's own as what they are taken for."""
    inner = plain(value)
    if not is_own(inner):
        return value
    with watch.resume():
        return bool(inner)


def alone(value: Any) -> Any:
    """An operand where nothing but blocks, numbers and texts may stand, as in a chain of comparisons."""
    inner = simple(plain(value))
    if is_own(inner):
        raise references.refuse(f"operator of a chain with an object of class '{type(inner).__name__}'")
    return value if inner is plain(value) else inner


def subscript(value: Any) -> Any:
    """What `[...]` is taken of: of the candidate's own constants it is computed as host code."""
    inner = plain(value)
    return _Subscripted(inner) if computes(type(inner)) else value


def index(value: Any) -> Any:
    """What stands in `[...]`, where it is one value."""
    inner = plain(value)
    return value if not computes(type(inner)) else references.at_compile_time(operator.index, (inner,), {})


def unpacked(value: Any) -> Any:
    """What is taken apart by an assignment, or handed over with a star."""
    inner = simple(plain(value))
    if computes(type(inner)):
        raise references.refuse(f"unpacking of an object of class '{type(inner).__name__}' inside a kernel")
    return value if inner is plain(value) else inner


class _Subscripted:
    """A constant of the candidate's that a kernel takes an item of."""

    __slots__ = ("_value",)

    def __init__(self, value: Any) -> None:
        self._value = value

    def __getitem__(self, key: Any) -> Any:
        key = plain(key)
        if _is_value(key) or (isinstance(key, tuple) and any(_is_value(plain(part)) for part in key)):
            raise _refuse_pair(self._value, key)
        return references.at_compile_time(operator.getitem, (self._value, key), {})


def _is_value(value: Any) -> bool:
    """Whether a value is one of the kernel's: a block, a number that is known at run time, or a group of them."""
    return references.is_value(value)


def _refuse_pair(left: Any, right: Any) -> Exception:
    names = f"'{type(left).__name__}' and '{type(right).__name__}'"
    return references.refuse(f"operator or comparison of {names} inside a kernel")
