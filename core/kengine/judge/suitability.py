"""Whether a sound task is worth judging by: finite answers, a tolerance that sees a downgrade, enough work to time."""

from __future__ import annotations

import copy
import sys
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np

from kengine.judge import trial
from kengine.judge.cases import is_natural
from kengine.judge.expected import Expected, namespace
from kengine.judge.leaves import dtype_name, is_float, is_torch, map_leaves, numpy_dtype
from kengine.judge.session import Session
from kengine.model import TaskFinding

SMALL_BYTES = 1 << 18
"""Inputs and outputs of less than this move through a device in a fraction of what one launch takes."""
SMALL_OPERATIONS = 1 << 24
"""Multiplications and additions of contractions below this, likewise."""
DOWNGRADES = ("bfloat16", "float16")


def find(session: Session) -> Iterator[TaskFinding]:
    """Yield what is found about values, tolerance and size."""
    yield from _nonfinite(session)
    yield from _loose(session)
    yield from _small(session)


def _nonfinite(session: Session) -> Iterator[TaskFinding]:
    for case in (c for c in session.cases if is_natural(c)):
        expected = session.expected(case, "check")
        share, undefined, overflowed = _share(session, expected)
        if overflowed:
            fix = "draw smaller inputs, or accumulate wide: where this happens both answers pass"
            what = f"the reference overflows in its own precision in case {case.name!r}"
            yield TaskFinding("overflow", "warning", what, fix, case.name)
            return
        if share > 0:
            severity: Literal["warning", "note"] = "warning" if undefined or share > 0.5 else "note"
            what = f"{share:.0%} of the answer is not finite in case {case.name!r}: no value is compared there"
            fix = "draw inputs within the domain of the operation; nothing to do where a mask of -inf is meant"
            yield TaskFinding("nonfinite", severity, what, fix, case.name)
            return


def _share(session: Session, expected: Expected) -> tuple[float, bool, bool]:
    """Share of elements that are not finite, whether some are NaN, and whether some are finite in float64 only."""
    xp = namespace(session.device)
    bad = total = 0
    undefined = overflowed = False
    for output in expected.outputs:
        if output.allowed is None:
            continue
        finite = xp.isfinite(output.exact)
        total += int(np.prod(output.form.spec.shape, dtype=np.int64))
        if output.special:
            bad += int((~finite).sum())
            undefined = undefined or bool(xp.isnan(output.exact).any())
            if output.honest is not None:
                overflowed = overflowed or bool((finite & ~xp.isfinite(output.honest)).any())
    return (bad / total if total else 0.0), undefined, overflowed


def _loose(session: Session) -> Iterator[TaskFinding]:
    specs = [o.form.spec.dtype for o in session.expected(session.cases[0], "check").outputs]
    if not any(d in ("float32", "float64") for d in specs):
        return
    for narrow in DOWNGRADES:
        if all(trial.passes(session, case, _downgraded(session, case, narrow)) for case in session.cases):
            rtol = session.task.spec.tolerance.rtol
            cause = f"rtol = {rtol:g}" if rtol is not None else "values that are exact in it"
            what = f"the reference computed in {narrow} passes in every case ({cause})"
            fix = f"lower rtol, draw values that {narrow} cannot hold, or ask for {narrow} by dtypes"
            yield TaskFinding("loose", "warning", what, fix)
            return


def _downgraded(session: Session, case: Any, narrow: str) -> list[Any] | None:
    """The answer of the whole reference in a narrow dtype: inputs, parameters and every step."""

    def change(args: list[Any], model: Any) -> tuple[list[Any], Any]:
        lower = [map_leaves(lambda a: _cast(a, narrow), a) for a in args]
        if model is not None and hasattr(model, "to"):
            model = copy.deepcopy(model).to(getattr(sys.modules["torch"], narrow))
        return lower, model

    return trial.run(session, case, change=change)


def _cast(array: Any, narrow: str) -> Any:
    if not is_float(array) or dtype_name(array) not in ("float32", "float64"):
        return array
    if is_torch(array):
        return array.to(getattr(sys.modules["torch"], narrow))
    return array.astype(numpy_dtype(narrow))


def _small(session: Session) -> Iterator[TaskFinding]:
    moved = 0
    for case in session.cases:
        entry = session.entry(case, "check")
        outputs = sum(o.nbytes for o in session.expected(case, "check").outputs)
        moved = max(moved, sum(leaf.nbytes for _, leaf in entry.packed.names) + outputs)
    if moved >= SMALL_BYTES or _operations(session) >= SMALL_OPERATIONS:
        return
    what = f"no case moves more than {moved / 1024:.3g} KiB: on a device a launch takes longer than the work"
    yield TaskFinding("small", "note", what, "add a larger case to time it; for right and wrong it is enough")


def _operations(session: Session) -> int:
    if "torch" not in sys.modules:
        return 0
    from torch.utils.flop_counter import FlopCounterMode

    counter = FlopCounterMode(display=False)
    trial.run(session, session.cases[0], counter)
    return int(counter.get_total_flops())
