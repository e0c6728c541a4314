"""Operators that instructions take as `op`: their formulas, and resolving what a kernel passes to one of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .activations import ACTIVATIONS, relu, rsqrt
from .dtypes import Array, DType
from .errors import NkiError
from .program import state


class Op:
    """An operator: `name`, `arity`, numpy function `fn`, `kind` ("arith", "bitvec", "compare" or "logical")."""

    __slots__ = ("arity", "fn", "kind", "name", "ufunc")

    def __init__(self, name: str, arity: int, fn: Callable[..., Any], kind: str) -> None:
        self.name, self.arity, self.fn, self.kind = name, arity, fn, kind
        self.ufunc = isinstance(fn, np.ufunc)

    def __repr__(self) -> str:
        return f"nl.{self.name}"


def abs_max(x: Array, y: Array) -> Array:
    return np.where(np.abs(x) > np.abs(y), x, y)


def abs_min(x: Array, y: Array) -> Array:
    return np.where(np.abs(x) < np.abs(y), x, y)


def logical_shift_right(x: Array, y: Array) -> Array:
    """Shift of the raw bits, zeros coming in."""
    unsigned = x.dtype.str.replace("i", "u")
    return np.right_shift(x.view(unsigned), np.asarray(y).astype(unsigned)).view(x.dtype)


def logical_not(x: Array) -> Array:
    return x == 0


def _table(arity: int, kind: str, **functions: Callable[..., Any]) -> dict[str, Op]:
    return {name: Op(name, arity, fn, kind) for name, fn in functions.items()}


OPS: dict[str, Op] = {
    **_table(2, "arith", add=np.add, subtract=np.subtract, multiply=np.multiply, divide=np.divide, maximum=np.maximum,
             minimum=np.minimum, power=np.power, mod=np.mod, fmod=np.fmod, abs_max=abs_max, abs_min=abs_min),
    **_table(2, "compare", equal=np.equal, not_equal=np.not_equal, less=np.less, less_equal=np.less_equal,
             greater=np.greater, greater_equal=np.greater_equal),
    **_table(2, "logical", logical_and=np.logical_and, logical_or=np.logical_or, logical_xor=np.logical_xor),
    **_table(2, "bitvec", bitwise_and=np.bitwise_and, bitwise_or=np.bitwise_or, bitwise_xor=np.bitwise_xor,
             left_shift=np.left_shift, right_shift=logical_shift_right),
    **_table(1, "bitvec", invert=np.invert),
    **_table(1, "logical", logical_not=logical_not),
    **{name: Op(name, 1, fn, "arith") for name, fn in ACTIVATIONS.items()},
    **_table(1, "arith", cos=np.cos, tan=np.tan, ceil=np.ceil, floor=np.floor, trunc=np.trunc, negative=np.negative,
             rsqrt=rsqrt, relu=relu),
}  # fmt: skip
BYPASS = Op("bypass", 1, lambda x: x, "arith")
PRELU = Op("prelu", 2, lambda x, p: np.where(x >= 0, x, x * p), "arith")
AVERAGE = Op("average", 2, np.add, "arith")

# What an ALU of the ISA has; language functions such as divide, mod or exp are not among them.
ALU = {
    "add", "subtract", "multiply", "maximum", "minimum", "power", "abs_max", "abs_min", "equal", "not_equal", "less",
    "less_equal", "greater", "greater_equal", "logical_and", "logical_or", "logical_xor", "bitwise_and", "bitwise_or",
    "bitwise_xor", "left_shift", "right_shift", "invert", "abs", "square", "relu", "rsqrt", "reciprocal", "bypass",
}  # fmt: skip
OLD_ALU = ALU | {"divide", "logical_not"}
REDUCTIONS = {
    "add", "subtract", "multiply", "maximum", "minimum", "logical_and", "logical_or", "logical_xor", "bitwise_and",
    "bitwise_or", "bitwise_xor", "abs_max", "abs_min",
}  # fmt: skip
IDENTITY = {
    "add": 0.0, "subtract": 0.0, "multiply": 1.0, "maximum": -np.inf, "minimum": np.inf, "logical_and": 1.0,
    "logical_or": 0.0, "logical_xor": 0.0, "bitwise_and": -1, "bitwise_or": 0, "bitwise_xor": 0, "abs_max": 0.0,
    "abs_min": np.inf,
}  # fmt: skip

_NUMPY_NAMES = {
    "amax": "maximum", "max": "maximum", "amin": "minimum", "min": "minimum", "true_divide": "divide", "sum": "add",
    "absolute": "abs", "prod": "multiply", "remainder": "mod", "bitwise_invert": "invert", "bitwise_not": "invert",
    "bitwise_left_shift": "left_shift", "bitwise_right_shift": "right_shift", "pow": "power",
}  # fmt: skip
_BY_FUNCTION: dict[Any, tuple[Op, str]] = {}


def register(function: Any, op: Op, generation: str) -> Any:
    """Let `function`, of a facade's nki.language, stand for `op` where an instruction takes an operator."""
    _BY_FUNCTION[function] = (op, generation)
    return function


def resolve(value: Any, what: str = "op") -> Op:
    """The operator meant by a kernel's argument. NkiError for anything that is not one."""
    if isinstance(value, Op):
        return value
    try:
        found = _BY_FUNCTION.get(value)
    except TypeError:
        found = None
    program = state.program
    generation = program.generation if program is not None else "new"
    if found is not None:
        if found[1] != generation:
            raise NkiError(f"{what}: nl.{found[0].name} belongs to another NKI generation than this kernel")
        return found[0]
    name = value if isinstance(value, str) else getattr(value, "__name__", None)
    if (
        generation == "old"
        and isinstance(name, str)
        and (
            isinstance(value, str)
            or type(value).__module__ == "numpy"
            or getattr(value, "__module__", "") in ("numpy", None)
        )
    ):
        name = _NUMPY_NAMES.get(name, name)
        if name in OPS:
            return OPS[name]
    raise NkiError(f"{what} must be an operator of nki.language, got {value!r}")


def resolve_alu(value: Any, what: str = "op", arity: int | None = None) -> Op:
    """An operator that the ISA's arithmetic units have. NkiError for a language function that they lack."""
    op = resolve(value, what)
    program = state.program
    allowed = OLD_ALU if program is not None and program.generation == "old" else ALU
    if op.name not in allowed:
        raise NkiError(f"{what}: nl.{op.name} is not a supported ALU operator of nki.isa instructions")
    if arity is not None and op.arity != arity:
        raise NkiError(f"{what}: nl.{op.name} takes {op.arity} operand(s), expected an operator of {arity}")
    return op


def resolve_reduction(value: Any, what: str = "op") -> Op:
    op = resolve(value, what)
    if op.name not in REDUCTIONS:
        raise NkiError(f"{what}: nl.{op.name} is not a legal reduction operator")
    return op


def resolve_activation(value: Any, what: str = "op") -> Op:
    op = resolve(value, what)
    if op.name not in ACTIVATIONS:
        raise NkiError(f"{what}: nl.{op.name} is not a supported activation function of the scalar engine")
    return op


def require_ints(op: Op, *dtypes: DType) -> None:
    """NkiError unless a bitvec operator sees only integer types."""
    if op.kind == "bitvec":
        for dtype in dtypes:
            if not dtype.is_int:
                raise NkiError(f"bitvec operator nl.{op.name} requires integer data types, got {dtype}")


def apply(op: Op, a: Array, b: Any = None, reverse: bool = False, out: Array | None = None) -> Array:
    """op(a, b), or op(b, a) if reversed; unary operators see only `a`. Writes into `out` when numpy can."""
    if op.arity == 1:
        args: tuple[Any, ...] = (a,)
    else:
        args = (b, a) if reverse else (a, b)
    if out is not None and op.ufunc:
        result: Array = op.fn(*args, out=out, casting="unsafe")
        return result
    result = op.fn(*args)
    if out is not None and result is not out:
        out[...] = result
        return out
    return result
