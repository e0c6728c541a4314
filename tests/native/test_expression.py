"""Arithmetic of launch blocks."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kengine.native.expression import ExpressionError, Extent, evaluate, names_in

X = Extent((4, 100), (200, 2), 2)
NAMES = {"x": X, "n": 100, "eps": 1e-6}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("x.shape[0] * x.shape[-1]", 400),
        ("x.numel()", 400),
        ("ceil_div(x.numel(), 256)", 2),
        ("x.stride(0) + x.strides[1]", 202),
        ("x.nbytes + x.itemsize + x.element_size()", 804),
        ("next_power_of_2(n)", 128),
        ("next_power_of_2(1)", 1),
        ("min(n, 32) if n > 64 else 64", 32),
        ("(n + 31) // 32 * 32", 128),
        ("n << 2 | 1", 401),
        ("-n % 7", 5),
        ("eps", 1e-6),
        ("x.ndim == 2 and not n == 3", True),
        ("len(x)", 4),
        ("2 ** 10", 1024),
    ],
)
def test_values(text: str, value: float) -> None:
    assert evaluate(text, NAMES) == value


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("m", "no value is called 'm'; known: eps, n, x"),
        ("x", "is not a number"),
        ("x.shape", "is not a number"),
        ("x.data", ".data is not known"),
        ("x.__class__", ".__class__ is not known"),
        ("n // 0", "division or modulo by zero"),
        ("1 << 1000", "outside 0 to 64"),
        ("9 ** 9 ** 9", "outside 0 to 64"),
        ("2 ** 64", "above 2^63"),
        ("open(n)", "unknown function"),
        ("(lambda: 1)()", "unknown function"),
        ("[1][0]", "List is not allowed"),
        ("'a'", "Constant is not allowed"),
        ("n if", "is not an expression"),
        ("", "is not an expression"),
        ("1" * 2000, "longer than 1000"),
        ("x.shape[7]", "tuple index out of range"),
    ],
)
def test_errors_name_the_expression(text: str, problem: str) -> None:
    with pytest.raises(ExpressionError, match=re.escape(problem)):
        evaluate(text, NAMES)


def test_names() -> None:
    assert names_in("ceil_div(x.numel(), tile) + n") == {"x", "tile", "n"}


@given(st.text(max_size=60))
def test_any_text_is_an_error_or_a_number(text: str) -> None:
    try:
        assert isinstance(evaluate(text, NAMES), (int, float))
    except ExpressionError:
        pass
