"""Which operators instructions take; a test compares the sets with the interpreter's."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kengine_nki.lint.calls import ApiCall

ACTIVATIONS = frozenset({
    "abs", "arctan", "copy", "erf", "erf_dx", "exp", "gelu", "gelu_apprx_sigmoid", "gelu_apprx_sigmoid_dx",
    "gelu_apprx_tanh", "gelu_dx", "log", "mish", "prelu", "reciprocal", "relu", "rsqrt", "sigmoid", "sign", "silu",
    "silu_dx", "sin", "softplus", "sqrt", "square", "tanh",
})  # fmt: skip
ALU = frozenset({
    "add", "subtract", "multiply", "maximum", "minimum", "power", "abs_max", "abs_min", "equal", "not_equal", "less",
    "less_equal", "greater", "greater_equal", "logical_and", "logical_or", "logical_xor", "bitwise_and", "bitwise_or",
    "bitwise_xor", "left_shift", "right_shift", "invert", "abs", "square", "relu", "rsqrt", "reciprocal", "bypass",
})  # fmt: skip
OLD_ALU = ALU | {"divide", "logical_not"}
REDUCTIONS = frozenset({
    "add", "subtract", "multiply", "maximum", "minimum", "logical_and", "logical_or", "logical_xor", "bitwise_and",
    "bitwise_or", "bitwise_xor", "abs_max", "abs_min",
})  # fmt: skip
ALIASES = {"max": "maximum", "min": "minimum", "sum": "add", "prod": "multiply"}
"""nl.max as an operator means nl.maximum; the last two in the old package only."""

PARAMETERS = frozenset({"op", "op0", "op1", "reduce_op", "cmp_op", "comp_op0", "comp_op1"})
_ACTIVATING = frozenset({"activation", "activation_reduce", "activate2"})
_REDUCING = frozenset({"tensor_reduce", "tensor_partition_reduce"})
_COMPUTING = frozenset({
    "tensor_tensor", "tensor_scalar", "scalar_tensor_tensor", "tensor_scalar_reduce", "tensor_tensor_scan",
    "tensor_scalar_cumulative",
})  # fmt: skip


def operators(call: ApiCall) -> Iterator[tuple[str, ast.expr]]:
    """Arguments of an instruction that are operators, with the parameter's name."""
    if call.is_isa and call.signature is not None:
        for name, value in call.arguments.items():
            if name in PARAMETERS and not (isinstance(value, ast.Constant) and value.value is None):
                yield name, value


def allowed(call: ApiCall, parameter: str) -> tuple[frozenset[str], str]:
    """Operators that may stand there and what they are called; an empty set where any may."""
    if parameter == "reduce_op" or (parameter == "op" and call.member in _REDUCING):
        return REDUCTIONS, "reduction operator"
    if parameter == "op" and call.member in _ACTIVATING:
        return ACTIVATIONS, "activation function"
    if call.member in _COMPUTING:
        return (ALU, "ALU operator") if call.is_new else (OLD_ALU, "ALU operator")
    return frozenset(), ""
