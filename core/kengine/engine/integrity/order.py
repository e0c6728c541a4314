"""In which order the cases of a task are checked and where in memory, so that these calls show what else further calls
would have to show.

A case of the form of the first one comes last and lies where that one lay: an answer kept by shape or address is wrong
for it. Others lie elsewhere in memory.
"""

from __future__ import annotations

import math
import random
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kengine.model import Case, CaseView

TELLING = ("drawn", "normal", "uniform", "outlier", "large")
"""Values of a case for which the answer of another is wrong, in whole or in part; for zeros much is right."""
FORMS = 3
"""Further forms of inputs on which a candidate is followed, and called without its kernels."""


def find_last(cases: Sequence[Case]) -> int:
    """The case that is checked last since it has the form of the first one and telling contents of its own; 0 where
    there is none."""
    if cases[0].values not in TELLING:
        return 0
    return max(n for n, case in enumerate(cases) if n == 0 or (_alike(case, cases[0]) and case.values in TELLING))


def order(cases: Sequence[Case]) -> list[int]:
    """The cases in the order in which they are checked: as they are listed, but for the one that comes last."""
    last = find_last(cases)
    listed = list(range(len(cases)))
    return sorted(listed, key=lambda n: n == last) if last else listed


def elsewhere(cases: Sequence[Case]) -> frozenset[int]:
    """The cases that lie elsewhere in memory than those before; none where none comes back to where the first lay."""
    last = find_last(cases)
    if not last:
        return frozenset()
    return frozenset(n for n, case in enumerate(cases) if n not in (0, last) and case.values in TELLING)


def draw_others(cases: Sequence[Case], views: Sequence[CaseView]) -> frozenset[int]:
    """One case of each form that is not the first one's, drawn: a candidate may take another way for another form.

    Of more than `FORMS` forms so many are drawn. Cases without a telling answer, or an empty one, are left out.
    """
    empty = find_empty(views)
    forms: list[list[int]] = []
    for n, case in enumerate(cases):
        if case.values not in TELLING or n in empty or _alike(case, cases[0]):
            continue
        form = next((each for each in forms if _alike(case, cases[each[0]])), None)
        if form is None:
            forms.append([n])
        else:
            form.append(n)
    chance = random.SystemRandom()
    drawn = [chance.choice(each) for each in forms]
    return frozenset(chance.sample(drawn, min(FORMS, len(drawn))))


def find_empty(views: Sequence[CaseView]) -> frozenset[int]:
    """The cases whose answer has no elements, so that there is nothing for a kernel to do."""
    shapes = {n: [spec.shape for spec in view.outputs] for n, view in enumerate(views)}
    return frozenset(n for n, found in shapes.items() if found and not any(math.prod(shape) for shape in found))


def _alike(case: Case, other: Case) -> bool:
    return replace(case, name=other.name, values=other.values, draw=other.draw) == other
