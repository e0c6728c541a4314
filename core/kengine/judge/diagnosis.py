"""Where the wrong elements of an output lie, in words that point at the part of a kernel that makes them."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

MAX_PATTERN = 64
"""Longest period, in elements, that is looked for."""


def locate(bad: Any, word: str = "wrong") -> str:
    """Say where the true elements of a host array of bool cluster; "" when there are none. word: what they are.

    Names the first wrong row (all dimensions but the last), then the narrowest of: everything, whole rows, one
    column, the tail of every row, the tail of the array, one rectangle, a periodic pattern, no pattern.
    """
    shape = bad.shape
    total = bad.size
    wrong = int(np.count_nonzero(bad))
    if not wrong:
        return ""
    if total == 1:
        return "the only element"
    if wrong == total:
        return "every element"
    if len(shape) == 1:
        return _along(bad, "element")
    width = shape[-1]
    table = bad.reshape(-1, width)
    rows = table.any(axis=1)
    columns = table.any(axis=0)
    first = int(rows.argmax())
    name = f"first {word} row {_index(first, shape[:-1])}"
    row_count, column_count = int(rows.sum()), int(columns.sum())
    if row_count * width == wrong:
        return f"whole rows: {_span(rows, 'row')}; {name}"
    if row_count * column_count == wrong:
        if row_count == table.shape[0]:
            return f"in every row: {_span(columns, 'column')}"
        if _solid(rows) and _solid(columns):
            low, left = first, int(columns.argmax())
            return (
                f"one tile: rows {low} to {low + row_count - 1}, columns {left} to {left + column_count - 1} "
                f"({row_count} x {column_count}); {name}"
            )
        return f"{_span(rows, 'row')} crossed with {_span(columns, 'column')}; {name}"
    pattern = _along(bad.reshape(-1), "element")
    if not pattern.startswith("scattered"):
        return f"{pattern}; {name}"
    return f"scattered over {row_count} of {table.shape[0]} rows and {column_count} of {width} columns; {name}"


def _along(bad: Any, noun: str) -> str:
    wrong = int(np.count_nonzero(bad))
    places = np.flatnonzero(bad)
    if wrong == 1:
        return f"only {noun} {int(places[0])}"
    if int(places[-1]) - int(places[0]) + 1 == wrong:
        return _span(bad, noun)
    period = _period(places)
    if period:
        return f"every {period}th {noun} from {int(places[0])} to {int(places[-1])}"
    return f"scattered, first at {noun} {int(places[0])}"


def _span(bad: Any, noun: str) -> str:
    places = np.flatnonzero(bad)
    low, high, count = int(places[0]), int(places[-1]), len(places)
    if count == len(bad):
        return f"all {noun}s"
    if count == 1:
        return f"{noun} {low}"
    if high - low + 1 == count:
        if high == len(bad) - 1:
            return f"the tail, {noun}s from {low} on ({count} of {len(bad)})"
        return f"{noun}s {low} to {high}"
    period = _period(places)
    if period:
        return f"every {period}th {noun} from {low} to {high}"
    return f"{count} of {len(bad)} {noun}s, the first {low}, the last {high}"


def _solid(flags: Any) -> bool:
    places = np.flatnonzero(flags)
    return int(places[-1]) - int(places[0]) + 1 == len(places)


def _period(places: Any) -> int:
    if len(places) < 3:
        return 0
    steps = np.diff(places)
    step = int(steps[0])
    return step if 2 <= step <= MAX_PATTERN and bool((steps == step).all()) else 0


def _index(flat: int, shape: tuple[int, ...]) -> str:
    if len(shape) == 1:
        return str(flat)
    return str(list(unravel(flat, shape)))


def unravel(flat: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Index of the element at a row-major position."""
    index = []
    for n in range(len(shape)):
        below = prod(shape[n + 1 :])
        index.append(flat // below if below else 0)
        flat = flat % below if below else 0
    return tuple(index)


def describe_values(got: Any, expected: Any) -> str:
    """A hint when the whole answer has a telling form: untouched, zeros, one constant, or the answer times a factor.

    got, expected: host arrays in float64, complex128 or a native integer dtype, of one shape.
    """
    if got.size < 2 or got.dtype == bool:
        return ""
    with np.errstate(all="ignore"):
        if got.dtype.kind in "fc" and bool(np.isnan(got).all()):
            return "all of it is NaN, as if nothing had been written"
        if bool((got == 0).all()):
            return "all of it is zero"
        if bool((got == got.flat[0]).all()):
            return f"all of it is {text(got.flat[0])}"
        if got.dtype.kind != "f" or not bool(np.isfinite(got).all() and np.isfinite(expected).all()):
            return ""
        energy = float((expected * expected).sum())
        factor = float((got * expected).sum()) / energy if energy else 0.0
        left = float(np.abs(got - factor * expected).max())
        if factor and abs(factor - 1) > 1e-4 and left <= 1e-3 * float(np.abs(got).max()):
            return f"it is the expected answer times {factor:.6g}"
        return _rearranged(got, expected)


def _rearranged(got: Any, expected: Any) -> str:
    scale = float(np.abs(expected).max()) * 1e-2
    if got.ndim == 2 and got.shape[0] == got.shape[1] and bool(np.all(np.abs(got.T - expected) <= scale)):
        return "it is the expected answer transposed"
    for axis in range(got.ndim):
        n = got.shape[axis]
        for shift in (1, -1):
            if n < 3:
                continue
            source = np.take(expected, range(max(-shift, 0), n - max(shift, 0)), axis)
            here = np.take(got, range(max(shift, 0), n - max(-shift, 0)), axis)
            if bool(np.all(np.abs(here - source) <= scale)):
                return f"it is the expected answer shifted by {shift} along dimension {axis}"
    return ""


def text(value: Any) -> str:
    """A number for a person, exact for float64: `nan`, `inf`, `1.5`, `(1+2j)`, `True`, `7`."""
    value = value.item() if hasattr(value, "item") else value
    return repr(value)
