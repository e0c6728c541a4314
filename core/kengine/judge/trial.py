"""The reference run with something in it altered, and whether a kernel that gives this would pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kengine.errors import TaskError
from kengine.judge import arena, reference
from kengine.judge.compare import accepts
from kengine.judge.expected import at_least_1d, namespace, native, wide
from kengine.judge.leaves import dtype_name, shape_of
from kengine.judge.session import Session
from kengine.judge.tolerance import is_inexact
from kengine.model import Case

Change = Callable[[list[Any], Any], "tuple[list[Any], Any]"]
"""From arguments and model to altered ones; both are private copies."""


def run(
    session: Session, case: Case, within: reference.Within | None = None, change: Change | None = None
) -> list[Any] | None:
    """The arrays that the altered reference gives on the inputs that a case is checked with, in its own precision;
    None when it raises, as no kernel would that is to pass."""
    entry = session.entry(case, "check")
    args, model = entry.packed.values(arena.duplicate(entry.packed.image)), entry.model
    precision = session.task.spec.tolerance.precision
    seed = session.seed(case, "check/reference")
    try:
        if change is not None:
            args, model = change(args, model)
        return reference.run_honest(session.module, args, model, session.writes, seed, precision, within).arrays()
    except TaskError:
        return None


def passes(session: Session, case: Case, answer: list[Any] | None) -> bool:
    """Whether arrays would be accepted as the answer of a case; shapes are strict, dtypes are not looked at."""
    if answer is None:
        return False
    expected = session.expected(case, "check").outputs
    if len(expected) != len(answer):
        return False
    xp = namespace(session.device)
    for want, array in zip(expected, answer):
        if shape_of(array) != want.form.spec.shape:
            return False
        convert = wide if is_inexact(dtype_name(array)) else native
        with np.errstate(all="ignore"):
            if not accepts(want, at_least_1d(convert(array, session.device)), session.tolerance, xp):
                return False
    return True
