"""What is right of an answer although the launches were withheld: parts that something else than a kernel computes.

An answer without kernels is wrong as a whole, and yet rows or channels of it may be right. Such an element tells
something where neither chance nor honest habits explain it: copies of inputs that kernels update in place, zeros and
other fillings, what parameters alone decide, and answers of earlier calls in memory that is given out again.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from kengine.errors import TaskError
from kengine.judge import arena, diagnosis, near, reference, transforms
from kengine.judge.compare import arena_numpy, judge_elements, load_output
from kengine.judge.expected import at_least_1d, namespace, wide
from kengine.judge.leaves import is_torch, numpy_dtype
from kengine.judge.lending import Holder, Key, Place, copy_out
from kengine.judge.structure import Malformed, in_order, mismatch, read_outputs
from kengine.model import TensorSpec

if TYPE_CHECKING:
    from kengine.judge.session import Session

RUN = 16
"""Telling elements that follow one another: one alone is right by accident now and then."""
DISTINCT = 8
"""Different values in a run, since a filling is right wherever the answer happens to be one number."""
COMPUTED = 4
"""Elements of a run that are no element of an input, however many values the inputs have."""
APART = 4.0
"""How many times the allowed error a telling element is away from another answer at its place."""
GAP, WIDEST_GAP = 16, 4096
"""Right elements that say nothing, like zeros, of which so many may stand between those that do; more of them where
many are the value of some input by chance."""
ROWS, PICKS = 512, 16
"""Rows, and elements of each, that are looked for elsewhere; they speak for further ones."""
SAMPLE = 1 << 16
"""Elements of the right answer of which it is asked how many are the value of some input."""


@dataclass(frozen=True)
class _Part:
    """One output on the host: wide values, their allowed errors, and bools of the same shape.

    telling: right, and neither zero nor what an answer to other inputs is there. computed: telling, and no element of
    an input. share: of the right answer, how much is the value of some input's element, by chance in a narrow dtype.
    """

    number: int
    got: Any
    allowed: Any
    right: Any
    telling: Any
    computed: Any
    share: float


def find_parts(session: Session, holder: Holder, key: Key, outputs: Any, before: str) -> str:
    """Say which parts of the outputs in a holder's sinks are right; "" when none is, or when that may be chance.

    outputs: the runner's description of them. before: a phase of the same case, with other inputs: what is right for
    those as well says nothing. Outputs that are right as a whole are left out, and so is a task whose answers are made
    or compared by code other than the judge's.
    """
    place = holder.find(key)
    if place is None or session.comparers or transforms.find(session.module, transforms.FROM_KERNEL) is not None:
        return ""
    expected = place.expected
    try:
        values, arrays = read_outputs(outputs, len(place.sinks))
    except Malformed:
        return ""
    if mismatch(expected.structure, values):
        return ""
    held = {id(array): copy for array, copy in zip(arrays, copy_out(holder, place, arrays))}
    copies = [held[id(array)] for array in in_order(expected.structure, values)]
    for number, (want, copy) in enumerate(zip(expected.outputs, copies)):
        if want.allowed is None or copy is None or prod(want.form.spec.shape) < RUN:
            continue
        part = _select(session, place, number, copy, before)
        words = _describe(session, holder, place, part, before) if part is not None else ""
        if words:
            of = f" of output {number}" if len(copies) > 1 else ""
            return words.replace(" elements", f" elements{of}", 1)
    return ""


def _select(session: Session, place: Place, number: int, copy: Any, before: str) -> _Part | None:
    """The telling elements of one output; None where they are few, which nearly always shows at once."""
    xp, want = namespace(session.device), place.expected.outputs[number]
    spec = TensorSpec(want.form.spec.dtype, want.form.spec.shape)
    with np.errstate(all="ignore"):
        got = at_least_1d(load_output(spec, copy, session.device))
        telling = xp.isfinite(got) & (got != 0)
        if int(telling.sum()) < RUN:
            return None
        right = judge_elements(want, got, session.task.spec.tolerance, xp)[1]
        telling = telling & right
        if int(telling.sum()) < RUN or bool(right.all()):
            return None
        others = session.expected(session.cases[place.key[1]], before).outputs
        if number >= len(others) or others[number].form.spec.shape != spec.shape:
            return None
        telling = telling & ~(xp.abs(got - others[number].exact) <= APART * want.allowed)
        computed = telling & ~_copied(place, spec, got, session.device)
    flat = computed.reshape(-1)
    if not _may_run(flat.nonzero()[0] if xp is np else arena_numpy(flat.nonzero()[:, 0]), spec.shape):
        return None
    got, right, telling, computed, allowed = (arena_numpy(a) for a in (got, right, telling, computed, want.allowed))
    part = _Part(number, got, allowed, right, telling, computed, 0.0)
    sizes = np.abs(_reals(got[telling]))
    low, high = float(sizes.min()), float(sizes.max())
    pool = _input_values(place, spec.dtype, low, high)
    computed = part.computed.copy()
    computed[computed] = ~_among(got[computed], pool)
    exact = arena_numpy(want.exact).reshape(-1)
    exact = _rounded(exact[_spread(exact.size, SAMPLE)], spec.dtype)
    exact = exact[(np.abs(exact) >= low) & (np.abs(exact) <= high)]
    return replace(part, computed=computed, share=float(_among(exact, pool).mean()) if exact.size else 0.0)


def _describe(session: Session, holder: Holder, place: Place, part: _Part, before: str) -> str:
    """How much of an output and where; each explanation is tried that costs more, as long as something is left."""
    for axis in _axes(part.got.shape):
        if not _runs(part, axis).any():
            continue
        kept = _without_repeats(part, axis, [*_earlier(session, holder, place, part)])
        if not _runs(kept, axis).any():
            continue
        kept = _without_parameters(session, place, kept, before)
        found = np.moveaxis(_runs(kept, axis), -1, axis)
        if found.any():
            return f"{int(found.sum())} of {found.size} elements ({diagnosis.locate(found, 'such')})"
    return ""


def _axes(shape: tuple[int, ...]) -> list[int]:
    """The axes along which elements may follow one another, the last one first."""
    return [n for n in reversed(range(len(shape))) if shape[n] > 1]


def _runs(part: _Part, axis: int) -> Any:
    """Which elements belong to a run, with an axis moved to the end: computed ones that follow one another, across the
    end of the axis too, with a few right ones between them, of which enough are telling."""
    right, telling, computed, got = (
        np.moveaxis(a, axis, -1).reshape(-1) for a in (part.right, part.telling, part.computed, part.got)
    )
    gap = min(int(GAP / max(1 - part.share, 1e-6)), WIDEST_GAP)
    places = np.flatnonzero(computed)
    wrong = np.concatenate(([0], np.cumsum(~right)))
    broken = (np.diff(places) > gap + 1) | (wrong[places[1:]] != wrong[places[:-1]])
    first = np.concatenate((places[:1], places[1:][broken]))
    last = np.concatenate((places[:-1][broken], places[-1:]))
    told, made = (np.concatenate(([0], np.cumsum(a))) for a in (telling, computed))
    told, made = told[last + 1] - told[first], made[last + 1] - made[first]
    enough = (told >= RUN) & (made >= np.maximum(COMPUTED, 0.5 * (1 - part.share) * told))
    result = np.zeros(right.size, dtype=bool)
    for start, end in zip(first[enough], last[enough] + 1):
        if len(np.unique(got[start:end][telling[start:end]])) >= DISTINCT:
            result[_start(right, start, gap) : right.size - _start(right[::-1], right.size - end, gap)] = True
    return result.reshape(np.moveaxis(part.right, axis, -1).shape)


def _start(right: Any, at: int, gap: int) -> int:
    """Where the right elements before a run begin, if they are as few as between its own; else where it begins."""
    before = right[max(at - gap - 1, 0) : at][::-1]
    few = len(before) if before.all() else int(before.argmin())
    return at - few if few <= gap else at


def _may_run(places: Any, shape: tuple[int, ...]) -> bool:
    """Whether elements at some places of a flat output follow one another along any axis, so that they are worth more
    than a look at their places."""
    if len(places) < RUN:
        return False
    for axis in _axes(shape):
        length, after = shape[axis], prod(shape[axis + 1 :])
        moved = np.sort((places // (length * after) * after + places % after) * length + places // after % length)
        if bool((moved[RUN - 1 :] - moved[: 1 - RUN] <= (RUN - 1) * (GAP + 1)).any()):
            return True
    return False


def _copied(place: Place, spec: TensorSpec, got: Any, device: str) -> Any:
    """Where an output is what an input of its shape is at that place: what costs least to see, and is met most."""
    found: Any = got != got
    for packed in (place.entry.packed, place.entry.lent):
        for _, leaf in packed.names:
            if leaf.spec.shape == spec.shape and _is_complex(leaf.spec) == _is_complex(spec):
                found |= _rounded(at_least_1d(wide(leaf.value(packed.image), device)), spec.dtype) == got
    return found


def _is_complex(spec: TensorSpec) -> bool:
    return spec.dtype.startswith("complex")


def _input_values(place: Place, dtype: str, low: float, high: float) -> Any:
    """The sorted sizes, from low to high, of all elements of inputs and parameters after a cast to a dtype."""
    pool = [np.zeros(0)]
    for packed in {id(p): p for p in (place.entry.packed, place.entry.lent)}.values():
        for _, leaf in packed.names:
            values = _reals(at_least_1d(wide(leaf.value(packed.image), "cpu"))).reshape(-1)
            sizes = np.abs(_rounded(values, _REAL.get(dtype, dtype)))
            pool.append(np.unique(sizes[(sizes >= low) & (sizes <= high)]))
    return np.unique(np.concatenate(pool))


_REAL = {"complex64": "float32", "complex128": "float64"}


def _reals(array: Any) -> Any:
    return np.stack([array.real, array.imag]) if np.iscomplexobj(array) else array


def _among(values: Any, pool: Any) -> Any:
    """Which of some values, sign aside, are in a sorted pool; a complex number is when both of its parts are."""
    if np.iscomplexobj(values):
        return _among(values.real, pool) & _among(values.imag, pool)
    if not len(pool):
        return np.zeros(values.shape, dtype=bool)
    sizes = np.abs(values)
    return pool[np.minimum(np.searchsorted(pool, sizes), len(pool) - 1)] == sizes


def _rounded(values: Any, dtype: str) -> Any:
    """Wide values as they are after a cast to a dtype."""
    torch = sys.modules.get("torch")
    if is_torch(values):
        return reference.widen(values.to(getattr(torch, dtype)))
    if torch is not None and dtype.startswith(("bfloat", "float8")):
        return torch.from_numpy(np.ascontiguousarray(values)).to(getattr(torch, dtype)).to(torch.float64).numpy()
    with np.errstate(all="ignore"):
        return wide(np.asarray(values).astype(numpy_dtype(dtype)), "cpu")


def _earlier(session: Session, holder: Holder, place: Place, part: _Part) -> Iterator[tuple[Any, int]]:
    """Answers to what was lent before and is still known: memory that is given out again may hold them."""
    task, index, phase = place.key
    seen = dict.fromkeys((case, near.shared(each)) for key, case, each in holder.lent if key == task)
    for number, each in seen:
        if (number, each) == (index, near.shared(phase)) or not session.is_kept(session.cases[number], each):
            continue
        outputs = session.expected(session.cases[number], each).outputs
        if part.number < len(outputs) and len(outputs[part.number].form.spec.shape) == part.got.ndim:
            yield at_least_1d(arena_numpy(outputs[part.number].exact))


def _without_repeats(part: _Part, axis: int, earlier: Sequence[Any]) -> _Part:
    """The part without rows whose telling elements are found elsewhere: in another row of this answer where they are
    wrong, so that they are a filling, or in an earlier answer. A row is what lies along one axis. Of many rows some are
    looked at, and most of them decide."""
    length = part.got.shape[axis]
    got, right, allowed, telling = (
        np.moveaxis(a, axis, -1).reshape(-1, length) for a in (part.got, part.right, part.allowed, part.telling)
    )
    before = [np.moveaxis(other, axis, -1).reshape(-1, length) for other in earlier if other.shape[axis] == length]
    inside = _runs(part, axis).reshape(-1, length) & telling
    rows = np.flatnonzero(inside.any(axis=1))
    kept: Any = np.zeros(len(got), dtype=bool)
    looked = rows[_spread(len(rows), ROWS)]
    for row in looked:
        places = np.flatnonzero(inside[row])
        picks = places[_spread(len(places), PICKS)]
        wanted, error = got[row, picks], allowed[row, picks]
        fills = _occurs(wanted, 0.0 * error, got, picks, ~right)
        kept[row] = not fills and not any(_occurs(wanted, 2.0 * error, other, picks) for other in before)
    if len(looked) < len(rows):
        kept[rows] = kept[looked].mean() > 0.5
    shape = np.moveaxis(part.got, axis, -1).shape
    whole = np.moveaxis(np.broadcast_to(kept[:, None], got.shape).reshape(shape), -1, axis)
    return replace(part, telling=part.telling & whole, computed=part.computed & whole)


def _spread(count: int, most: int) -> Any:
    """At most so many numbers below `count`, evenly spread."""
    return np.linspace(0, count - 1, min(most, count)).astype(int)


def _occurs(wanted: Any, error: Any, table: Any, columns: Any, among: Any = None) -> bool:
    """Whether some row of a table has the wanted values in these columns, within an error each."""
    left = np.arange(len(table))
    with np.errstate(all="ignore"):
        for value, within, column in zip(wanted, error, columns):
            alike = np.abs(table[left, column] - value) <= within
            if among is not None:
                alike &= among[left, column]
            left = left[alike]
            if not len(left):
                return False
    return True


def _without_parameters(session: Session, place: Place, part: _Part, before: str) -> _Part:
    """The part without what a module's parameters alone decide: what the reference gives for other inputs as well."""
    model, case = place.entry.model, session.cases[place.key[1]]
    if model is None:
        return part
    packed = session.entry(case, before).packed
    args, precision = packed.values(arena.duplicate(packed.image)), session.task.spec.tolerance.precision
    seed = session.seed(case, before)
    try:
        mixed = reference.run_honest(session.module, args, model, session.writes, seed, precision).arrays()
    except TaskError:
        return part
    if part.number >= len(mixed):
        return part
    other = at_least_1d(wide(mixed[part.number], "cpu"))
    if other.shape != part.got.shape:
        return part
    with np.errstate(all="ignore"):
        free = ~(np.abs(part.got - other) <= APART * part.allowed)
    return replace(part, telling=part.telling & free, computed=part.computed & free)
