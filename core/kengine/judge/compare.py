"""The comparison of one case: form first, then every element of the judge's own copy against the expected answer."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from kengine.array import Array
from kengine.judge import arena, comparers, diagnosis
from kengine.judge.comparers import Ask
from kengine.judge.expected import Expected, ExpectedArray, at_least_1d, namespace, native, wide
from kengine.judge.structure import ArrayOut, in_order, mismatch
from kengine.model import Comparison, Element, TensorSpec, Tolerance

_PIECE = 1 << 15
"""Elements that are compared at a time on the host."""
_HINT_SIZE = 1 << 22
"""Largest output, in elements, whose whole is looked at for a telling form."""


def compare(
    name: str,
    expected: Expected,
    values: Sequence[Any],
    arrays: Sequence[ArrayOut],
    copies: Sequence[Any],
    device: str,
    tolerance: Tolerance,
    mutated: tuple[str, ...] = (),
    ask: Ask | None = None,
) -> Comparison:
    """Compare what a candidate returned with what was expected.

    values: the outputs as read by `structure.read_outputs`; arrays: their arrays depth first; copies: for each array
    the judge's private copy of its bytes (contiguous), None when they did not fit. mutated: inputs found changed.
    ask: plugins that may compare in the core's place, once the form is right.
    """
    total = sum(math.prod(o.form.spec.shape) for o in expected.outputs)
    problem = mismatch(expected.structure, values) or _plain_differs(expected.structure, values)
    ordered: list[Any] = []
    if not problem:
        held = {id(array): copy for array, copy in zip(arrays, copies)}
        ordered = [held[id(array)] for array in in_order(expected.structure, values)]
        if any(c is None for c in ordered):
            problem = "an output's bytes did not fit into the memory for them"
    if problem:
        return Comparison(name, False, problem, wrong=total, total=total, mutated=mutated)
    if ask is not None and (own := ask(expected.outputs, ordered, device)) is not None:
        return comparers.merge(own, name, mutated)
    parts = [
        compare_output(n, want, copy, device, tolerance)
        for n, (want, copy) in enumerate(zip(expected.outputs, ordered))
    ]
    return _merge(name, parts, total, mutated)


def passes(
    expected: Expected,
    values: Sequence[Any],
    arrays: Sequence[ArrayOut],
    copies: Sequence[Any],
    device: str,
    tolerance: Tolerance,
) -> bool:
    """Whether `compare` would call this right, at a fraction of its cost: nothing is located or described."""
    ordered = order_outputs(expected, values, arrays, copies)
    if ordered is None:
        return False
    xp = namespace(device)
    for want, copy in zip(expected.outputs, ordered):
        spec = TensorSpec(want.form.spec.dtype, want.form.spec.shape)
        if copy is None:
            return False
        if math.prod(spec.shape) and not accepts(want, at_least_1d(load_output(spec, copy, device)), tolerance, xp):
            return False
    return True


def order_outputs(
    expected: Expected, values: Sequence[Any], arrays: Sequence[ArrayOut], copies: Sequence[Any]
) -> list[Any] | None:
    """The copies in the order of the expected outputs; None where form or plain values are not the expected ones."""
    if mismatch(expected.structure, values) or _plain_differs(expected.structure, values):
        return None
    held = {id(array): copy for array, copy in zip(arrays, copies)}
    return [held[id(array)] for array in in_order(expected.structure, values)]


def digest(copies: Sequence[Any]) -> str:
    """SHA-256 over the copied outputs, hexadecimal; the same bytes on host and device give the same digest."""
    h = hashlib.sha256()
    for copy in copies:
        raw = b"" if copy is None else np.ascontiguousarray(arena.to_host(copy))
        h.update((len(raw)).to_bytes(8, "big"))
        h.update(memoryview(raw))
    return h.hexdigest()


def compare_output(number: int, want: ExpectedArray, copy: Any, device: str, tolerance: Tolerance) -> Comparison:
    """Compare one output, given its contiguous bytes; `case` of the result is empty."""
    spec = TensorSpec(want.form.spec.dtype, want.form.spec.shape)
    total = math.prod(spec.shape)
    if total == 0:
        return Comparison("", True, error_ratio=0.0, total=0)
    if device != "cuda" and want.allowed is not None and not want.special:
        clean = _compare_clean(number, want, Array(spec, copy).as_numpy(), total)
        if clean is not None:
            return clean
    got = at_least_1d(load_output(spec, copy, device))
    if want.allowed is None:
        return _compare_exact(number, want, got, total, device)
    return _compare_close(number, want, got, total, device, tolerance)


def _compare_clean(number: int, want: ExpectedArray, got: Any, total: int) -> Comparison | None:
    """The comparison of a right answer on the host, piece by piece within the cache; None when anything is wrong."""
    flat, exact, allowed = got.reshape(-1), want.exact.reshape(-1), want.allowed.reshape(-1)
    top, at, largest = -1.0, 0, 0.0
    kind = np.complex128 if np.iscomplexobj(exact) else np.float64
    with np.errstate(all="ignore"):
        for start in range(0, total, _PIECE):
            piece = slice(start, start + _PIECE)
            error = np.abs(flat[piece].astype(kind) - exact[piece])
            ratio = error / allowed[piece]
            place = int(ratio.argmax())  # the first NaN, when there is one
            if not ratio[place] <= 1:
                return None
            if ratio[place] > top:
                top, at = float(ratio[place]), start + place
            largest = max(largest, float(error.max()))
    shown = Element(
        number,
        diagnosis.unravel(at, want.form.spec.shape),
        diagnosis.text(exact[at]),
        diagnosis.text(kind(flat[at])),
    )
    return Comparison("", True, "", top, largest, float(allowed[at]), 0, total, 0, shown)


def load_output(spec: TensorSpec, copy: Any, device: str) -> Any:
    """One output as an array in the namespace of the comparison over private bytes; floats wide."""
    if device == "cuda":
        array = arena.tensor_over(spec, copy)
        return wide(array, device) if spec.dtype.startswith(("float", "bfloat", "complex")) else array
    array = Array(spec, copy).as_numpy()
    if spec.dtype == "bool":
        # A byte other than 0 and 1 is no bool, and reads as one thing here and as another there.
        array = Array(TensorSpec("uint8", spec.shape), copy).as_numpy()
    return wide(array, device) if spec.dtype.startswith(("float", "bfloat", "complex")) else native(array, device)


def _compare_exact(number: int, want: ExpectedArray, got: Any, total: int, device: str) -> Comparison:
    xp = namespace(device)
    exact, honest = want.exact, want.honest
    if want.form.spec.dtype == "bool" and device != "cuda":
        exact, honest = exact.astype(np.uint8), honest.astype(np.uint8)
    bad = (got != exact) & (got != honest)
    wrong = int(bad.sum())
    if not wrong:
        return Comparison("", True, error_ratio=0.0, max_abs_err=0.0, allowed=0.0, total=total)
    flat = int(_first(bad, xp))
    element = _element(number, want, got, flat)
    far = _widest(got, exact, bad)
    return Comparison("", False, "", None, far, 0.0, wrong, total, 0, element, _where(bad, got, exact, total))


def _widest(got: Any, exact: Any, bad: Any) -> float | None:
    a, b = arena_numpy(got[bad]), arena_numpy(exact[bad])
    if a.dtype == bool:
        return 1.0
    return float(max(abs(int(x) - int(y)) for x, y in zip(a.flat[:100_000], b.flat[:100_000])))


def _compare_close(
    number: int, want: ExpectedArray, got: Any, total: int, device: str, tolerance: Tolerance
) -> Comparison:
    xp = namespace(device)
    with np.errstate(all="ignore"):
        error, right, unlike = judge_elements(want, got, tolerance, xp)
        bad = ~right
        wrong = int(bad.sum())
        ratio = error / want.allowed
        ratio = xp.where(want.allowed > 0, ratio, xp.where(error > 0, math.inf + error, error * 0.0))
        ratio = xp.where(bad, ratio, xp.where(ratio > 1, 1.0 + 0 * ratio, ratio))
        worst = unlike if unlike is not None and bool(unlike.any()) else None
        flat = int(_first(worst, xp)) if worst is not None else int(ratio.reshape(-1).argmax())
        top = float(ratio.reshape(-1)[flat]) if worst is None else math.inf
        limit = float(want.allowed.reshape(-1)[flat])
        largest = float(error.max())
    shown = _element(number, want, got, flat)
    where = _where(bad, got, want.exact, total) if wrong else ""
    strange = int(worst.sum()) if worst is not None else 0
    return Comparison(
        "", not wrong, "", _finite(top), _finite(largest), _finite(limit), wrong, total, strange, shown, where
    )


def judge_elements(want: ExpectedArray, got: Any, tolerance: Tolerance, xp: Any) -> tuple[Any, Any, Any]:
    """For a wide array of answers: the error of each element (0 where not finite), whether it is right, and where
    non-finite values stand at the wrong places (None when there are none anywhere)."""
    error = xp.abs(got - want.exact)
    right = error <= want.allowed
    if not want.special and bool(xp.isfinite(got).all()):
        return error, right, None
    right, unlike = _nonfinite(right, want, got, tolerance, xp)
    return xp.where(xp.isfinite(error), error, xp.zeros_like(error)), right, unlike


def accepts(want: ExpectedArray, got: Any, tolerance: Tolerance, xp: Any) -> bool:
    """Whether an array of answers (wide, or of an exact dtype) would pass as this output."""
    if want.allowed is None:
        return bool(((got == want.exact) | (got == want.honest)).all())
    with np.errstate(all="ignore"):
        return bool(judge_elements(want, got, tolerance, xp)[1].all())


def _nonfinite(right: Any, want: ExpectedArray, got: Any, tolerance: Tolerance, xp: Any) -> tuple[Any, Any]:
    """Right and unlike with non-finite values: a NaN where one is expected, an infinity of the expected sign.

    Where the exact and the honest answer differ in this (an overflow in the task's own precision), both are right.
    """
    if tolerance.nan_equal:
        beside = _BESIDE.get(want.form.spec.dtype, 0.0) if tolerance.rtol is None else tolerance.rtol
        right = right | _same_kind(got, want.exact, xp, beside)
        if want.honest is not None:
            right = right | _same_kind(got, want.honest, xp, beside)
    else:
        right = right & xp.isfinite(got)
    return right, ~right & ~(xp.isfinite(got) & xp.isfinite(want.exact))


_BESIDE = {"complex64": 1e-4, "complex128": 1e-10}
"""Relative error of the finite part of a complex number whose other part is not: the number has no size to go by."""


def _same_kind(got: Any, want: Any, xp: Any, beside: float) -> Any:
    if got.dtype in (np.complex128, getattr(xp, "complex128", None)):
        real, imag = (
            _same_kind(g, w, xp, 0.0) | (xp.isfinite(w) & (xp.abs(g - w) <= beside * xp.abs(w)))
            for g, w in ((got.real, want.real), (got.imag, want.imag))
        )
        return real & imag & ~xp.isfinite(want)
    return (xp.isnan(got) & xp.isnan(want)) | (xp.isinf(want) & (got == want))


def _first(mask: Any, xp: Any) -> int:
    flat = mask.reshape(-1)
    return int(flat.argmax() if xp is np else flat.to(xp.uint8).argmax())


def arena_numpy(array: Any) -> Any:
    """A host view of an array of either namespace."""
    return array if isinstance(array, np.ndarray) else array.cpu().numpy()


def _where(bad: Any, got: Any, exact: Any, total: int) -> str:
    host = arena_numpy(bad)
    place = diagnosis.locate(host)
    if total <= _HINT_SIZE:
        hint = diagnosis.describe_values(arena_numpy(got), arena_numpy(exact))
        place = f"{place}; {hint}" if hint else place
    return place


def _element(number: int, want: ExpectedArray, got: Any, flat: int) -> Element:
    index = diagnosis.unravel(flat, want.form.spec.shape)
    expected, have = want.exact.reshape(-1)[flat], got.reshape(-1)[flat]
    if want.form.spec.dtype == "bool":
        return Element(number, index, str(bool(expected)), _bool_text(have))
    return Element(number, index, diagnosis.text(expected), diagnosis.text(have))


def _bool_text(value: Any) -> str:
    number = int(value)
    return str(bool(number)) if number in (0, 1) else f"byte {number}"


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _merge(name: str, parts: list[Comparison], total: int, mutated: tuple[str, ...]) -> Comparison:
    failed = [p for p in parts if not p.ok]
    chosen = max(failed or parts, key=lambda p: (p.nonfinite, math.inf if p.error_ratio is None else p.error_ratio))
    wrong = sum(p.wrong for p in parts)
    problem = _sentence(chosen, wrong, total, len(parts)) if failed else ""
    if mutated:
        changed = f"the candidate wrote to {', '.join(mutated)}, which it may only read"
        problem = f"{problem}; {changed}" if problem else changed
    return Comparison(
        name,
        not failed and not mutated,
        problem,
        chosen.error_ratio,
        chosen.max_abs_err,
        chosen.allowed,
        wrong,
        total,
        sum(p.nonfinite for p in parts),
        chosen.worst,
        chosen.where,
        mutated,
    )


def _sentence(part: Comparison, wrong: int, total: int, outputs: int) -> str:
    worst = part.worst
    assert worst is not None
    of = f" of output {worst.output}" if outputs > 1 else ""
    text = f"{wrong} of {total} elements are wrong; worst at {list(worst.index)}{of}: expected {worst.expected}, "
    text += f"got {worst.got}"
    if part.allowed is not None and not part.nonfinite:
        text += f", allowed error {part.allowed:.3g}" if part.allowed else ", no error is allowed"
    return f"{text}; {part.where}" if part.where else text


def _plain_differs(expected: Sequence[Any], actual: Sequence[Any]) -> str:
    """Compare numbers, strings and None that are returned beside arrays; "" or what differs first."""
    for n, (want, have) in enumerate(zip(expected, actual)):
        problem = _plain(want, have, f"output {n}")
        if problem:
            return problem
    return ""


def _plain(want: Any, have: Any, where: str) -> str:
    if isinstance(have, dict):
        return next((p for k in want if (p := _plain(want[k], have[k], f"{where}[{k!r}]"))), "")
    if isinstance(have, (list, tuple)):
        return next((p for n, (w, h) in enumerate(zip(want, have)) if (p := _plain(w, h, f"{where}[{n}]"))), "")
    if isinstance(want, float) and isinstance(have, float):
        close = math.isclose(want, have, rel_tol=1e-6) or (math.isnan(want) and math.isnan(have))
        return "" if close else f"{where} is {have!r}, expected {want!r}"
    if isinstance(want, (bool, int, str, complex)) or want is None:
        return "" if want == have else f"{where} is {have!r}, expected {want!r}"
    return ""
