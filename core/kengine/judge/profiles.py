"""What the reference computes with: its operators on one case, to hold a candidate's own use of them against."""

from __future__ import annotations

import contextlib
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from kengine.judge import arena, reference
from kengine.judge.leaves import arrays as leaf_arrays
from kengine.judge.leaves import is_array, is_torch, map_leaves
from kengine.provenance import Facts
from kengine.provenance.ledger import INPUT, PARAMETER, Ledger, Piece

if TYPE_CHECKING:
    from kengine.judge.session import Session
    from kengine.model import Case


def profile(session: Session, case: Case) -> Facts:
    """Run the reference once on the inputs of a case and follow it; computed once while the task is open.

    Nothing that goes wrong here is the task's fault, whose reference has run before: what cannot be followed gives
    facts with `followed` false.
    """
    known = session.profiles.get(case.name)
    if known is None:
        try:
            known = _follow(session, case)
        except Exception:
            known = Facts(followed=False)
        session.profiles[case.name] = known
    return known


def _follow(session: Session, case: Case) -> Facts:
    entry = session.entry(case, "check")
    args = entry.packed.values(arena.duplicate(entry.packed.image))
    ledger = Ledger()
    with ExitStack() as stack:
        stack.enter_context(session.measuring())
        stack.enter_context(contextlib.redirect_stdout(sys.stderr))
        if any(is_torch(a) for a in leaf_arrays(args)) or entry.model is not None:
            from kengine.provenance.dispatch import Follower, piece

            for tensor in leaf_arrays(args):
                if is_torch(tensor):
                    _enter(ledger, piece(tensor), INPUT)
            for tensor in getattr(entry.model, "state_dict", dict)().values():
                if is_torch(tensor):
                    _enter(ledger, piece(tensor), PARAMETER)
            # Parameters of the deep copy are the copy's own; it is made while the ledger follows.
            stack.enter_context(Follower(ledger))
        if "numpy" in sys.modules:
            from kengine.provenance import numeric

            for array in leaf_arrays(args):
                if not is_torch(array):
                    for each in numeric.pieces(array):
                        _enter(ledger, each, INPUT)
            numeric.attach(ledger)
            stack.callback(numeric.attach, None)
            args = [map_leaves(_watch, a) for a in args]
        reference.prepare_call(session.module, args, entry.model, "eager")()
    return ledger.facts([])


def _enter(ledger: Ledger, piece: Piece | None, flags: int) -> None:
    if piece is not None:
        ledger.enter(piece, flags, "")


def _watch(value: Any) -> Any:
    import numpy as np

    from kengine.provenance.numeric import watched

    return watched(value) if is_array(value) and type(value) is np.ndarray else value
