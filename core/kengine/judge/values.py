"""Classes of values: large, tiny, zeros and outliers, made of what the task itself draws so that they stay valid."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kengine.judge.inputs import Drawn
from kengine.judge.leaves import arrays, dtype_name, is_float, is_torch, map_leaves
from kengine.model import ValueClass

DERIVED: tuple[ValueClass, ...] = ("outlier", "large", "tiny", "zeros", "binary")
"""Classes that change the scale of a draw and may therefore leave the domain of a reference."""

SCALED: tuple[ValueClass, ...] = ("large", "tiny", "outlier")
"""Classes that leave masks as they are."""

_WIDE = {"large": (2.0**10, 2.0**6, 2.0**3), "tiny": (2.0**-10, 2.0**-4), "outlier": (2.0**10, 2.0**5, 2.0)}
_NARROW = {"large": (2.0**6, 2.0**3), "tiny": (2.0**-6, 2.0**-3), "outlier": (2.0**6, 2.0**3, 2.0)}
_DENSITIES = (0.5, 0.25, 0.125, 0.0625)
"""Shares of ones among binary inputs: fewer where a sum of so many terms is more than a narrow dtype counts to."""
_BEYOND_HALF, _BELOW_HALF = 2.0 * 65504.0, 2.0**-15
"""Twice the largest finite number of float16, and half of its smallest normal one."""
_SHARES = (1.0, 0.75, 0.625, 0.5625)
"""Parts of a factor by which ends of lines are raised: no sum of some, in whatever signs, is zero."""
_ENDS = 2.0
"""Factor that makes an end the extreme of its line without outweighing all else that is summed, or transformed."""
_MANY = 8
"""Lines of which each takes one raised end; of fewer, two take two each."""
_TELLING = 32
"""Lines of which so many have ends of one sign for a reason; of fewer, one takes the other sign."""
_SAMPLED = 128
"""Lines among which those are looked for whose ends have the wanted sign."""
_SORTED = 6
"""Length from which a row that is in order is no accident."""


def factors(values: ValueClass, drawn: Drawn) -> tuple[float, ...]:
    """Factors to try for a class, the strongest first; (1.0,) for classes that have none, () without float inputs, or
    where the class would change none of them.

    The strongest one takes dtypes of a wider range than float16 to where float16 overflows, or has no normal numbers.
    """
    floats = [a for a in arrays(drawn.args) if is_float(a)]
    if values in SCALED:
        floats = [a for a in floats if not _stays(a, values)]
    if values in DERIVED and not floats:
        return ()
    if values == "binary":
        return _DENSITIES
    if any(dtype_name(a).startswith(("float16", "float8")) for a in floats):
        return _NARROW.get(values, (1.0,))
    known = _WIDE.get(values, (1.0,))
    if values in ("large", "tiny") and (top := max(map(_top, floats), default=0.0)) > 0:
        if values == "large":
            strongest = _power(_BEYOND_HALF / top, math.ceil)
            return (strongest, *known) if strongest > known[0] else known
        strongest = _power(_BELOW_HALF / top, math.floor)
        return (strongest, *known) if strongest < known[0] else known
    return known


def _power(factor: float, to: Callable[[float], int]) -> float:
    return 2.0 ** max(min(to(math.log2(factor)), 40), -40)


def _top(array: Any) -> float:
    """Largest finite magnitude of an array, 0.0 when it has none."""
    if is_torch(array):
        import torch

        size = array.detach().to(torch.float64).abs()
        return float(torch.where(torch.isfinite(size), size, torch.zeros_like(size)).amax()) if size.numel() else 0.0
    size = np.abs(np.asarray(array, dtype=np.float64))
    return float(np.where(np.isfinite(size), size, 0.0).max()) if size.size else 0.0


def apply_values(drawn: Drawn, values: ValueClass, factor: float, seed: int) -> None:
    """Give the floating-point arguments of a draw another class of values, in place of the draw's arguments.

    large, tiny: all times `factor`; masks stay (`is_mask`). outlier: one element of each array raised by `factor`, and
    ends of some lines along every axis less, so that they are the extremes there; masks, rows that are in order and
    symmetric matrices stay, and so does every zero.
    zeros: all zero.
    normal, uniform: fresh values of N(0, 1) or U[0, 1), whatever the task drew. binary: ones at random places, a share
    of `factor`, and zeros; parameters too. drawn: nothing.
    """
    if values == "drawn":
        return

    def changed(array: Any) -> Any:
        kept = not is_float(array) or (values in SCALED and _stays(array, values))
        return array if kept else change[values](array)

    leading = iter((True,))
    chooser = random.Random(seed ^ 0x9E3779B97F4A7C15)
    change: dict[str, Callable[[Any], Any]] = {
        "large": lambda a: _times(a, factor),
        "tiny": lambda a: _times(a, factor),
        "zeros": lambda a: _times(a, 0.0),
        "outlier": lambda a: _outlier(a, factor, chooser, next(leading, False)),
        "normal": lambda a: _random(a, chooser, lambda g, s: g.standard_normal(s)),
        "uniform": lambda a: _random(a, chooser, lambda g, s: g.random(s)),
        "binary": lambda a: _random(a, chooser, lambda g, s: np.float64(g.random(s) < factor)),
    }
    drawn.args = [map_leaves(changed, v) for v in drawn.args]
    if values == "binary" and drawn.model is not None and hasattr(drawn.model, "parameters"):
        import torch

        with torch.no_grad():
            for parameter in drawn.model.parameters():
                if parameter.dtype.is_floating_point:
                    parameter.copy_(change["binary"](parameter.detach()))


def is_mask(array: Any) -> bool:
    """Whether an array holds zeros and one other value, both: a mask, kept or dropped, whatever number stands for it.

    A kernel may well test such a number against zero where the reference multiplies by it.
    """
    if is_torch(array):
        import torch

        flat = array.detach().to(torch.float64).flatten()
    else:
        flat = np.asarray(array, dtype=np.float64).reshape(-1)
    other = flat[flat != 0]
    return 0 < len(other) < len(flat) and bool((other == other[0]).all())


def _times(array: Any, factor: float) -> Any:
    if is_torch(array):
        import torch

        wide = array.detach().to(torch.float64)
        changed = torch.zeros_like(wide) if factor == 0.0 else wide * factor
        return changed.to(array.dtype)
    wide = np.asarray(array, dtype=np.float64)
    return (np.zeros_like(wide) if factor == 0.0 else wide * factor).astype(array.dtype)


def _stays(array: Any, values: ValueClass) -> bool:
    """Whether scaling leaves an array as it is: masks, and for outliers what kernels may rely on being in order."""
    return is_mask(array) or (values == "outlier" and (_is_ordered(array) or _is_symmetric(array)))


def _is_ordered(array: Any) -> bool:
    """Whether every row (along the last axis that has a length) rises, or every one falls, and is no constant."""
    shape = [n for n in array.shape if n > 1]
    if not shape or shape[-1] < _SORTED:
        return False
    rows = array.reshape(-1, shape[-1])
    for some in (_wide(part) for part in (rows[:1], rows)):
        before, after = some[:, :-1], some[:, 1:]
        if not (bool((before <= after).all()) or bool((before >= after).all())) or bool((before == after).all()):
            return False
    return True


def _is_symmetric(array: Any) -> bool:
    """Whether the last two axes make square matrices, each of them its own transpose."""
    if len(array.shape) < 2 or array.shape[-1] != array.shape[-2] or array.shape[-1] < 2:
        return False
    if not bool((_wide(array[..., 0]) == _wide(array[..., 0, :])).all()):
        return False
    wide = _wide(array)
    return bool((wide == (wide.transpose(-1, -2) if is_torch(wide) else np.swapaxes(wide, -1, -2))).all())


def _wide(array: Any) -> Any:
    if is_torch(array):
        import torch

        return array.detach().to(torch.float64)
    return np.asarray(array, dtype=np.float64)


def _outlier(array: Any, factor: float, chooser: random.Random, leading: bool) -> Any:
    """Raise one element, and ends of lines along every axis by less.

    A reduction that leaves out one end of its lines is right wherever the extreme is elsewhere. The one element lies
    inside the `leading` array and in a corner of others: where two of them met in a product, that would outweigh all
    else, and the error that a transform spreads would be more than the rest is allowed.
    """
    flat = _wide(array).reshape(-1)
    flat = flat.clone() if is_torch(flat) else flat.copy()
    top = _top(array)
    if flat.shape[0] < 2 or top == 0.0:
        return array
    ends = _Ends(flat, tuple(array.shape), top, chooser)
    if not leading:
        ends.raise_corner(factor)
    for axis in reversed(range(len(array.shape))):
        if array.shape[axis] > 1:
            ends.raise_along(axis, min(factor, _ENDS))
    if leading:
        ends.raise_inside(factor)
    if is_torch(array):
        return flat.reshape(array.shape).to(array.dtype)
    return flat.reshape(array.shape).astype(array.dtype)


_Group = tuple[tuple[int, int, float], ...]
_GROUPS: tuple[_Group, ...] = (((-1, 1, _SHARES[0]), (0, -1, _SHARES[3])), ((0, 1, _SHARES[1]), (-1, -1, _SHARES[2])))
"""Which end becomes which extreme (1 largest, -1 least) of a line, with its share of the factor; two and two in a line
where lines are few."""


class _Ends:
    """The ends of an array's lines, some of which are made the extremes of theirs. `flat` is changed in place.

    A line is all elements that differ in one index alone. Zeros stay, since they may be structure (a triangle); so
    does the sign, except where there are few lines and the line itself has both. In a line of one sign the extreme of
    the other is what is lowered most.
    """

    def __init__(self, flat: Any, shape: tuple[int, ...], top: float, chooser: random.Random) -> None:
        self._flat, self._shape, self._top, self._chooser = flat, shape, top, chooser
        self._signs = {1: bool((flat > 0).any()), -1: bool((flat < 0).any())}
        self._changed: dict[int, float] = {}
        self._decided: dict[int, set[int]] = {}

    def raise_along(self, axis: int, factor: float) -> None:
        """Make each end of lines along an axis the largest element of one of them, and the least of one."""
        count = len(self._flat) // self._shape[axis]
        groups: list[_Group] = list(_GROUPS)
        if count == 1:
            groups = [self._chooser.choice(groups)]
        elif count >= _MANY:
            groups = [(end,) for group in groups for end in group]
        lines = self._chooser.sample(range(count), min(count, _SAMPLED))
        touched = {self._line(place, axis) for place in self._changed}
        # The outer lines are those in which other axes have their ends.
        lines.sort(key=lambda line: (line in touched, self._is_outer(axis, line)))
        for group in groups:
            line = self._find(axis, lines, group, few=count < _TELLING)
            if line is None:
                continue
            lines.remove(line)
            for end, sign, share in group:
                self._set(axis, line, end, sign, factor * share)
            self._decided.setdefault(axis, set()).add(line)

    def raise_inside(self, factor: float) -> None:
        """Raise one element away from all ends, with the sign of what stands there; one of the ends where it would
        outdo them. At an end a convolution gives it to few outputs."""
        for _ in range(_MANY):
            place = self._draw(lambda n: self._chooser.randrange(1, n - 1) if n > 2 else self._chooser.randrange(n))
            if self._can_take(place, None):
                self._raise(place, factor)
                return
        axis = max(axis for axis, length in enumerate(self._shape) if length > 1)
        for place, value in self._changed.items():
            if abs(value) > self._top and self._can_take(place, axis):
                self._raise(place, factor)
                return

    def raise_corner(self, factor: float) -> None:
        """Raise one element that is an end along every axis, with the sign of what stands there."""
        for _ in range(_MANY):
            place = self._draw(lambda n: self._chooser.choice((0, n - 1)))
            if self._can_take(place, None):
                self._raise(place, factor)
                return

    def _draw(self, choose: Callable[[int], int]) -> int:
        place = 0
        for length in self._shape:
            place = place * length + choose(length)
        return place

    def _raise(self, place: int, factor: float) -> None:
        self._put(place, math.copysign(self._top * factor, float(self._flat[place])))

    def _find(self, axis: int, lines: list[int], group: _Group, few: bool) -> int | None:
        """A line whose ends have the wanted signs; of few lines, one whose ends are not zero."""
        values = [_read(self._flat, [self._place(axis, line, end) for line in lines]) for end, _, _ in group]
        usable = np.all([v != 0 for v in values], axis=0)
        fits = usable & np.all([v * s > 0 if self._signs[s] else usable for v, (_, s, _) in zip(values, group)], axis=0)
        for chosen in (fits, usable & few):
            for n in np.flatnonzero(chosen):
                if all(self._can_take(self._place(axis, lines[n], end), axis) for end, _, _ in group):
                    return lines[n]
        return None

    def _is_outer(self, axis: int, line: int) -> bool:
        place = self._place(axis, line, 0)
        for other, length in reversed(list(enumerate(self._shape))):
            place, index = divmod(place, length)
            if other != axis and length > 2 and index in (0, length - 1):
                return True
        return False

    def _can_take(self, place: int, axis: int | None) -> bool:
        """Whether a greater value here leaves the ends of lines along other axes the extremes that they are."""
        if any(other != axis and self._line(place, other) in found for other, found in self._decided.items()):
            return False
        value = float(self._flat[place])
        return value != 0.0 and math.isfinite(value)

    def _set(self, axis: int, line: int, end: int, sign: int, factor: float) -> None:
        place = self._place(axis, line, end)
        raised = any(v * sign > 0 and self._line(p, axis) == line for p, v in self._changed.items())
        if not raised and float(self._flat[place]) * sign > 0:
            self._put(place, sign * self._top * factor)
            return
        length, step = self._shape[axis], math.prod(self._shape[axis + 1 :])
        start = self._place(axis, line, 0)
        elements = _on_host(self._flat[start : start + (length - 1) * step + 1 : step])
        extreme = float(np.where(np.isfinite(elements), elements * sign, 0.0).max())
        if extreme > 0:
            # Where an end along another axis was raised in this line it takes more than that.
            self._put(place, sign * max(self._top * factor, 2 * extreme if extreme > self._top else 0.0))
        elif extreme < 0:
            self._put(place, sign * extreme / 2)

    def _put(self, place: int, value: float) -> None:
        self._flat[place] = value
        self._changed[place] = value

    def _place(self, axis: int, line: int, end: int) -> int:
        """Where the first (0) or last (-1) element of a line stands."""
        length, step = self._shape[axis], math.prod(self._shape[axis + 1 :])
        start = line // step * length * step + line % step
        return start + (length - 1) * step if end else start

    def _line(self, place: int, axis: int) -> int:
        """The number of the line along an axis through an element."""
        length, step = self._shape[axis], math.prod(self._shape[axis + 1 :])
        return place // (length * step) * step + place % step


def _read(flat: Any, places: Sequence[int]) -> Any:
    """Elements of a flat array, on the host."""
    if not is_torch(flat):
        return flat[np.asarray(places, dtype=np.int64)]
    import torch

    return _on_host(flat[torch.tensor(places, dtype=torch.int64, device=flat.device)])


def _on_host(array: Any) -> Any:
    return array.cpu().numpy() if is_torch(array) else array


def _random(array: Any, chooser: random.Random, fill: Callable[[Any, Any], Any]) -> Any:
    if is_torch(array):
        import torch

        fresh = fill(np.random.default_rng(chooser.getrandbits(64)), tuple(array.shape))
        return torch.as_tensor(fresh, dtype=torch.float64).to(device=array.device, dtype=array.dtype)
    return np.asarray(fill(np.random.default_rng(chooser.getrandbits(64)), array.shape)).astype(array.dtype)
