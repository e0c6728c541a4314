"""Loop ranges. `affine_range` promises independent iterations, so a session may run it backwards."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any

from .errors import PACKAGE, NkiError
from .loop_order import may_reverse
from .program import state
from .views import scalar_index


def numbers(name: str, *args: Any) -> range:
    """range() of ints or registers. NkiError for anything else."""
    if not 1 <= len(args) <= 3:
        raise NkiError(f"{name} takes 1 to 3 arguments, got {len(args)}")
    ends = []
    for value in args:
        if not hasattr(value, "__index__") and not hasattr(value, "storage"):
            raise NkiError(f"{name} takes integers, got {type(value).__name__} {value!r}")
        ends.append(scalar_index(value))
    if len(ends) == 3 and ends[2] == 0:
        raise NkiError(f"{name} step must not be zero")
    return range(*ends)


def reversed_now() -> bool:
    program = state.program
    return program is not None and program.options.reverse_ranges


class LoopIndex(int):
    """An old-generation loop variable that knows whether its loop has just begun."""

    first: bool


def old_loop(order: Iterable[int]) -> Iterator[LoopIndex]:
    """Yield LoopIndex objects."""
    for position, value in enumerate(order):
        index = LoopIndex(value)
        index.first = position == 0
        yield index


def affine(name: str, *args: Any) -> range:
    """The iterations of an affine_range, backwards in a reversed session."""
    found = numbers(name, *args)
    if not reversed_now() or len(found) < 2:
        return found
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back
    return found[::-1] if frame is not None and may_reverse(frame) else found
