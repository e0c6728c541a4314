"""Tasks that cannot tell a right answer from a wrong one are refused before any candidate is judged by them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kengine.errors import TaskError
from kengine.judge import arena, reference, ties
from kengine.judge.cases import is_natural
from kengine.judge.compare import accepts
from kengine.judge.expected import Expected, ExpectedArray, at_least_1d, namespace, native, wide
from kengine.judge.leaves import arrays as leaf_arrays
from kengine.judge.leaves import dtype_name
from kengine.judge.session import Entry, Session
from kengine.judge.tolerance import allowed_error, estimate_reduction, is_inexact
from kengine.model import Case, TaskFinding

PHASE = "screen"
"""Phase whose draws a task is screened with, beside those of "check"."""


def screen(session: Session) -> None:
    """Raise TaskError, with what to change, for a task that gives a wrong verdict on some wrong answer."""
    for found in errors(session):
        raise TaskError(f"task {session.task.name!r}: {found.message}; {found.fix}")


def errors(session: Session) -> Iterator[TaskFinding]:
    """Everything for which a task is refused, found one after the other.

    On every case that the task draws itself (or with values asked for by name), in two draws each: the reference
    must agree with itself, whatever order it gives equal elements, its result must depend on the inputs, and zeros, one
    constant and a copy of an input must not pass. A fake that fails in one of these cases is caught there, so only one
    that passes in all refuses the task.
    Nothing is looked for after a finding that makes the rest of them meaningless. Raises TaskError when the task's own
    code fails.
    """
    natural = [case for case in session.cases if is_natural(case)]
    if not natural:
        return
    if (found := _find_moods(session, natural[0])) is not None:
        yield found
        return
    fakes = dict.fromkeys(_FAKES, True)
    for case in natural:
        first, second = session.entry(case, "check"), session.entry(case, PHASE)
        if (found := _find_fixed_inputs(session, case, first, second)) is not None:
            yield found
            return
        pair = (session.expected(case, "check"), session.expected(case, PHASE))
        if (found := _find_shapes(case, *pair)) is not None:
            yield found
            return
        for fake, passes in _FAKES.items():
            fakes[fake] = fakes[fake] and passes(session, (first, second), pair)
        if not any(fakes.values()):
            break
    for fake, fooled in fakes.items():
        if fooled and _KEYS[fake] not in session.task.spec.allow:
            yield TaskFinding(_KEYS[fake], "error", f"{fake} would pass as an answer in every case", _FIXES[fake])
    if "ties" not in session.task.spec.allow and (found := _find_ties(session, natural)) is not None:
        yield found


_KEYS = {
    "zeros": "zeros",
    "a constant": "constant",
    "the answer to other inputs": "insensitive",
    "a copy of an input": "copy",
}
"""What a task writes in `allow` to be judged all the same."""

_FIXES = {
    "zeros": "draw inputs whose result is not negligible, compare before the last reduction, or tighten rtol",
    "a constant": "return more than a value that is nearly the same for all inputs, or draw inputs that vary it",
    "the answer to other inputs": "the result hardly depends on the inputs: compare before the reduction that "
    "cancels them, or tighten rtol",
    "a copy of an input": 'draw inputs that the operation changes (for instance a case with values = "normal"); a task '
    'that is a copy says allow = ["copy"]',
}


def _find_moods(session: Session, case: Case) -> TaskFinding | None:
    """Run the reference twice on the same inputs, under other seeds of every global generator; what it gives may
    differ by the order of a sum, never by more."""
    entry = session.entry(case, "check")
    first, second = (_honest(session, case, entry, turn) for turn in ("once", "again"))
    if len(first) == len(second) and all(_agree(session, a, b) for a, b in zip(first, second)):
        return None
    return TaskFinding(
        "nondeterministic",
        "error",
        "the reference is nondeterministic: two runs on the same inputs differ by more than the tolerance",
        "take random numbers (dropout too) and state from call to call out of it",
        case.name,
    )


def _honest(session: Session, case: Case, entry: Entry, turn: str) -> list[Any]:
    memory = arena.duplicate(entry.packed.image)
    seed = session.seed(case, f"screen/{turn}")
    precision = session.task.spec.tolerance.precision
    values = entry.packed.values(memory)
    return reference.run_honest(session.module, values, entry.model, session.writes, seed, precision).arrays()


def _agree(session: Session, a: Any, b: Any) -> bool:
    """Whether two results of one reference differ by no more than the floors allow, its own error not counted."""
    if tuple(a.shape) != tuple(b.shape) or a.dtype != b.dtype:
        return False
    name = dtype_name(a)
    xp = namespace(session.device)
    first, second = (at_least_1d(_value(session, array)) for array in (a, b))
    if not is_inexact(name):
        return bool((first == second).all())
    shapes = [leaf.spec.shape for _, leaf in session.entry(session.cases[0], "check").packed.names]
    reduction = estimate_reduction(shapes, tuple(a.shape))
    with np.errstate(all="ignore"):
        allowed = allowed_error(first, first, None, name, session.task.spec.tolerance, reduction, xp, native=True)
        same = (xp.abs(first - second) <= allowed) | (first == second) | (xp.isnan(first) & xp.isnan(second))
    return bool(same.all())


def _find_fixed_inputs(session: Session, case: Case, first: Entry, second: Entry) -> TaskFinding | None:
    same = first.packed.nbytes == second.packed.nbytes and arena.same_bytes(first.packed.image, second.packed.image)
    if not same or "insensitive" in session.task.spec.allow:
        return None
    what = session.module.drawer.__name__
    seeded = "draw from its seed" if session.task.form == "function" else "draw with torch's or numpy's generators"
    message = f"{what} gives the same inputs for every seed in case {case.name!r}"
    return TaskFinding("fixed-inputs", "error", message, f"{what} must {seeded}", case.name)


def _find_shapes(case: Case, first: Expected, second: Expected) -> TaskFinding | None:
    a = [(o.form.spec.dtype, o.form.spec.shape) for o in first.outputs]
    b = [(o.form.spec.dtype, o.form.spec.shape) for o in second.outputs]
    if a == b:
        return None
    message = f"shape or dtype of the result depend on the values in case {case.name!r} ({a} and {b})"
    return TaskFinding("shapes", "error", message, "return arrays of a fixed size", case.name)


def _find_ties(session: Session, natural: list[Case]) -> TaskFinding | None:
    """The first case in which equal elements in another order, which no operator rules out, would be refused."""
    draws = [(natural[0], PHASE), *((case, "check") for case in natural)]
    for case, phase in draws:
        if names := ties.find(session, case, phase):
            what = f"the answer depends on an order that {' and '.join(names)} does not promise: inputs of case "
            what += f"{case.name!r} have equal elements there, and a kernel that orders them otherwise is as right"
            fix = "draw keys no two of which are equal (torch.randperm), return values alone, or say stable=True"
            return TaskFinding("ties", "error", what, fix, case.name)
    return None


def _value(session: Session, array: Any) -> Any:
    convert = wide if is_inexact(dtype_name(array)) else native
    return convert(array, session.device)


def _zeros(session: Session, entries: tuple[Entry, Entry], pair: tuple[Expected, Expected]) -> bool:
    xp = namespace(session.device)
    return all(accepts(o, xp.zeros_like(o.exact), session.task.spec.tolerance, xp) for e in pair for o in e.outputs)


def _constant(session: Session, entries: tuple[Entry, Entry], pair: tuple[Expected, Expected]) -> bool:
    return all(_one_constant(session, a, b) for a, b in zip(pair[0].outputs, pair[1].outputs))


def _one_constant(session: Session, a: ExpectedArray, b: ExpectedArray) -> bool:
    """Whether one constant is right for every element of an output in both draws."""
    if 0 in a.form.spec.shape:
        return True
    if a.allowed is None:
        first = a.exact.reshape(-1)[0]
        return bool((a.exact == first).all()) and bool((b.exact == first).all())
    if a.special or b.special or a.form.spec.dtype.startswith("complex"):
        xp = namespace(session.device)
        first = a.exact.reshape(-1)[0]
        tolerance = session.task.spec.tolerance
        return all(accepts(o, xp.zeros_like(o.exact) + first, tolerance, xp) for o in (a, b))
    low = max(float((o.exact - o.allowed).max()) for o in (a, b))
    high = min(float((o.exact + o.allowed).min()) for o in (a, b))
    return low <= high


def _insensitive(session: Session, entries: tuple[Entry, Entry], pair: tuple[Expected, Expected]) -> bool:
    xp = namespace(session.device)
    tolerance = session.task.spec.tolerance
    return all(accepts(b, a.exact, tolerance, xp) for a, b in zip(pair[0].outputs, pair[1].outputs))


def _copy(session: Session, entries: tuple[Entry, Entry], pair: tuple[Expected, Expected]) -> bool:
    for entry, expected in zip(entries, pair):
        if not all(_is_an_input(session, entry, output) for output in expected.outputs):
            return False
    return True


def _is_an_input(session: Session, entry: Entry, output: ExpectedArray) -> bool:
    xp = namespace(session.device)
    for array in _inputs(entry):
        if tuple(array.shape) != output.form.spec.shape:
            continue
        inexact = is_inexact(dtype_name(array))
        if inexact != (output.allowed is not None):
            continue
        value = _value(session, array)
        is_complex = dtype_name(array).startswith("complex")
        if is_complex != output.form.spec.dtype.startswith("complex"):
            continue
        with np.errstate(all="ignore"):
            if accepts(output, value, session.task.spec.tolerance, xp):
                return True
    return False


def _inputs(entry: Entry) -> Iterator[Any]:
    yield from leaf_arrays(entry.packed.values(entry.packed.image))


_FAKES = {
    "zeros": _zeros,
    "a constant": _constant,
    "the answer to other inputs": _insensitive,
    "a copy of an input": _copy,
}
