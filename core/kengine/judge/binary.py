"""Which share of ones binary inputs have, so that the answer is whole numbers that the task's own precision holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kengine.errors import TaskError
from kengine.judge import arena, reference
from kengine.judge.expected import namespace, wide
from kengine.judge.leaves import dtype_name
from kengine.judge.packing import Packed
from kengine.judge.tolerance import UNIT_ROUNDOFF, is_inexact

if TYPE_CHECKING:
    from typing import Any

    from kengine.judge.session import Session

REASON = "its answer is not made of whole numbers that its own precision holds"


def counts(session: Session, packed: Packed, model: Any, seed: int) -> tuple[bool, bool]:
    """Whether the reference gives real whole numbers only, and whether all are within what its dtype counts to.

    One run in the task's own precision. False where it raises, or gives integers or booleans: with equal inputs, which
    of two places is named is a kernel's own affair.
    """
    precision = session.task.spec.tolerance.precision
    values = packed.values(arena.duplicate(packed.image))
    try:
        found = reference.run_honest(session.module, values, model, session.writes, seed, precision).arrays()
    except TaskError:
        return False, False
    if not found or not all(is_inexact(dtype_name(a)) and not dtype_name(a).startswith("complex") for a in found):
        return False, False
    xp = namespace(session.device)
    whole = within = True
    with np.errstate(all="ignore"):
        for array in found:
            value = wide(array, session.device)
            whole = whole and bool((value == xp.round(value)).all())
            within = within and bool((xp.abs(value) <= 1.0 / UNIT_ROUNDOFF[dtype_name(array)]).all())
    return whole, within
