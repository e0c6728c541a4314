"""Whether an answer depends on the order of equal elements, which no operator promised: another one is as right."""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from kengine.errors import TaskError
from kengine.judge import arena, cases, reference
from kengine.judge.leaves import dtype_name, is_torch, map_leaves

if TYPE_CHECKING:
    from kengine.judge.expected import Expected
    from kengine.judge.session import Session
    from kengine.model import Case

REASON = "its answer holds places of elements that are all equal there, of which any order is right"
_WORDS = re.compile(r"sort|topk|kthvalue|median|\bmode\(|argpartition")
"""What the text of a reference has where it orders anything; argmax and max promise the first."""


def depends(session: Session, case: Case, found: Expected) -> bool:
    """Whether the answer of a case that another class of values gave equal elements depends on their order."""
    return not cases.is_natural(case) and bool(find(session, case, "check"))


def find(session: Session, case: Case, phase: str) -> list[str]:
    """Operators whose equal elements in another order give an answer that would be refused; [] when there is none."""
    if not _WORDS.search(session.task.source):
        return []
    for last in (False, True):
        changed: set[str] = set()
        try:
            answer = _run(session, case, phase, last, changed)
        except TaskError:
            continue  # a reference that asks for one order says so itself
        if changed and not _passes(session, session.expected(case, phase), answer):
            return sorted(changed)
    return []


def _run(session: Session, case: Case, phase: str, last: bool, changed: set[str]) -> list[Any]:
    entry = session.entry(case, phase)
    args = [
        map_leaves(lambda a: _watch(a, last, changed), v)
        for v in entry.packed.values(arena.duplicate(entry.packed.image))
    ]
    within: contextlib.AbstractContextManager[Any] = contextlib.nullcontext()
    if "torch" in sys.modules:
        from kengine.judge.reordering import Reordering

        within = Reordering(last, changed)
    seed = session.seed(case, f"{phase}/reference")
    precision = session.task.spec.tolerance.precision
    answer = reference.run_honest(session.module, args, entry.model, session.writes, seed, precision, within)
    return [a.view(np.ndarray) if isinstance(a, ReorderedArray) else a for a in answer.arrays()]


def _passes(session: Session, found: Expected, answer: list[Any]) -> bool:
    from kengine.judge.compare import accepts
    from kengine.judge.expected import at_least_1d, namespace, native, wide
    from kengine.judge.tolerance import is_inexact

    xp = namespace(session.device)
    for want, array in zip(found.outputs, answer):
        convert = wide if is_inexact(dtype_name(array)) else native
        value = at_least_1d(convert(array, session.device))
        with np.errstate(all="ignore"):
            if tuple(array.shape) != want.form.spec.shape or not accepts(want, value, session.tolerance, xp):
                return False
    return True


class ReorderedArray(np.ndarray):
    """An array whose argsort and argpartition put equal elements in another order, and so does what comes of it.

    turn: whether the last of equal elements come first, and where names of functions go whose result changed.
    """

    turn: tuple[bool, set[str]]

    def __array_finalize__(self, parent: Any) -> None:
        self.turn = getattr(parent, "turn", (False, set()))

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        make: Callable[..., Any] = _sorted if func is np.argsort else _partitioned
        if func not in (np.argsort, np.argpartition) or not args or not isinstance(args[0], ReorderedArray):
            return super().__array_function__(func, types, args, kwargs)
        last, changed = self.turn
        bare = (args[0].view(np.ndarray), *args[1:])
        result = func(*bare, **kwargs)
        other = make(last, *bare, **kwargs)
        if other is not None and not np.array_equal(other, result):
            changed.add(f"numpy.{func.__name__}")
            result = other
        return _watch(result, last, changed)

    def argsort(self, *args: Any, **kwargs: Any) -> Any:
        """As numpy's; the method in C tells nobody."""
        return np.argsort(self, *args, **kwargs)

    def argpartition(self, *args: Any, **kwargs: Any) -> Any:
        """As numpy's."""
        return np.argpartition(self, *args, **kwargs)


def _watch(array: Any, last: bool, changed: set[str]) -> Any:
    if is_torch(array) or type(array) is not np.ndarray:
        return array
    watched: Any = array.view(ReorderedArray)
    watched.turn = last, changed
    return watched


def _sorted(
    last: bool, a: Any, axis: int | None = -1, kind: Any = None, order: Any = None, *, stable: Any = None
) -> Any:
    if kind in ("stable", "mergesort") or order is not None or stable:
        return None
    keys = np.asarray(a)
    keys, axis = (keys.reshape(-1), 0) if axis is None else (keys, axis)
    if not last:
        return np.argsort(keys, axis=axis, kind="stable")
    return keys.shape[axis] - 1 - np.argsort(np.flip(keys, axis), axis=axis, kind="stable")


def _partitioned(last: bool, a: Any, kth: Any, axis: int | None = -1, kind: Any = None, order: Any = None) -> Any:
    """All of either part in the order of its keys, or in the other one: a partition promises none."""
    found = _sorted(last, a, axis, order=order)
    if found is None or not last:
        return found
    along = 0 if axis is None else axis
    moved = np.moveaxis(found, along, -1)
    ends = sorted({n % moved.shape[-1] for n in np.atleast_1d(kth).tolist()})
    parts = []
    for start, end in zip([0, *(n + 1 for n in ends)], [*ends, moved.shape[-1]]):
        parts += [moved[..., start:end][..., ::-1], moved[..., end : end + 1]]
    return np.moveaxis(np.concatenate(parts, -1), -1, along)
