"""Operators of the facade in a followed call: `cupy::NAME` with the arrays that were read and written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kengine.runner import watch


def note(name: str, read: Any, result: Any, written: Any = None) -> None:
    """Note an operator. What it gave counts as written, but for views of what was read; so does `written`."""
    if not watch.active():
        return
    before = list(arrays(read))
    made = [array for array in arrays(result) if not any(np.may_share_memory(array, other) for other in before)]
    made += arrays(written)
    if made:
        watch.operation(f"cupy::{name}", before, made)


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
