"""Operators of the facade in a followed call: `cupy::NAME` with the arrays that were read and written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kengine.runner import watch

CONTRACTIONS = frozenset({"dot", "matmul", "tensordot", "einsum", "inner", "vdot", "outer"})
"""Operators that sum products over an axis that two arrays share."""


def note(name: str, read: Any, result: Any, written: Any = None) -> None:
    """Note an operator. What it gave counts as written, but for views of what was read; so does `written`."""
    if not watch.active():
        return
    before = list(arrays(read))
    made = [array for array in arrays(result) if not any(np.may_share_memory(array, other) for other in before)]
    made += arrays(written)
    if made:
        count = flops([array.size for array in before], made[0].size) if name in CONTRACTIONS else 0
        watch.operation(f"cupy::{name}", before, made, count)


def flops(operands: list[int], result: int) -> int:
    """Twice the products of a contraction of two arrays, from the numbers of elements of these and of the result."""
    if len(operands) < 2 or not result:
        return 0
    return int(2 * max(operands[0] * operands[1] / result, 1) ** 0.5 * result)


def arrays(value: Any) -> Iterator[Any]:
    """Every array in a nested value, as numpy's own."""
    if isinstance(value, np.ndarray):
        yield value.view(np.ndarray)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from arrays(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from arrays(item)


def bare(value: Any) -> Any:
    """A value with numpy's own arrays over the same memory in the place of the facade's."""
    if isinstance(value, np.ndarray):
        return value.view(np.ndarray)
    if type(value) in (list, tuple):
        return type(value)(bare(item) for item in value)
    if type(value) is dict:
        return {key: bare(item) for key, item in value.items()}
    return value
