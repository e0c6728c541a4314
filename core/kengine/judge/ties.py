"""Whether an answer names places among equal elements, where another answer is as right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kengine.judge import profiles

if TYPE_CHECKING:
    from kengine.judge.expected import Expected
    from kengine.judge.session import Session
    from kengine.model import Case

REASON = "its answer holds places of elements that are all equal there, of which any order is right"
_ORDERING = frozenset({"topk", "sort", "argsort", "kthvalue", "median", "nanmedian", "mode", "argpartition", "lexsort"})
"""Operators that promise no order of equal elements; argmax and max promise the first."""


def depends(session: Session, case: Case, found: Expected) -> bool:
    """Whether the answer of a case that makes elements equal has whole numbers and comes of an ordering operator."""
    if case.values != "zeros" or not any(o.form.spec.dtype.startswith(("int", "uint")) for o in found.outputs):
        return False
    facts = profiles.profile(session, case)
    names = {use.name.rpartition("::")[2].partition(".")[0] for use in (*facts.operators, *facts.moved)}
    return bool(names & _ORDERING)
