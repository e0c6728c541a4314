"""Cases of large and of tiny values, beside those that a task lists without a word about values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod

from kengine.model import Case, JsonValue, ValueClass

CLASSES: tuple[ValueClass, ...] = ("large", "tiny")
"""What is added: a clamp, a missing maximum and a narrow range show with the first, a wrong or missing epsilon and
flushed small numbers with the second. Of 313 wrong ways to compute common operators that the task's own draws let
pass, these two see 238; no other two see more."""


def add(cases: Sequence[Case]) -> tuple[Case, ...]:
    """The cases, and one more for each class that none of them has, with the parameters of the smallest.

    The smallest has the least product of whole-number parameters among the cases whose values are drawn. One with a
    size of 0 or 1 where another has more is passed over: little is computed there. A class that turns out not to be
    valid for the task is left out by the judge, as everywhere.
    """
    missing = [values for values in CLASSES if all(case.values != values for case in cases)]
    if not cases or not missing:
        return tuple(cases)
    drawn = [case for case in cases if case.values == "drawn"] or list(cases)
    base = min([case for case in drawn if not _is_degenerate(case, drawn)] or drawn, key=_size)
    names = {case.name for case in cases}
    added = []
    for values in missing:
        name = f"{base.name} {values}"
        while name in names:
            name += " (added)"
        names.add(name)
        added.append(replace(base, name=name, values=values))
    return (*cases, *added)


def _size(case: Case) -> int:
    """Product of the sizes of a case; what is no size (a flag, an axis from the end) counts as 1."""
    return prod(value if value >= 0 else 1 for value in _numbers(case).values())


def _is_degenerate(case: Case, among: Sequence[Case]) -> bool:
    own = _numbers(case)
    return any(value in (0, 1) and any(_numbers(c).get(key, 0) > 1 for c in among) for key, value in own.items())


def _numbers(case: Case) -> dict[str, int]:
    return {f"{key}{place}": n for key, value in case.params.items() for place, n in _whole(value, "")}


def _whole(value: JsonValue, place: str) -> Iterator[tuple[str, int]]:
    if isinstance(value, tuple):
        for n, item in enumerate(value):
            yield from _whole(item, f"{place}.{n}")
    elif isinstance(value, int) and not isinstance(value, bool):
        yield place, value
