"""Index grids of the old generation: `nl.arange`, `nl.mgrid` and arithmetic on them, kept symbolic while affine."""

from __future__ import annotations

from typing import Any

import numpy as np

from .dtypes import Array
from .errors import NkiError

INT = (int, np.integer)


class Grid:
    """constant + sum over axes of step x arange(count): `terms` maps an axis of the grid to (count, step)."""

    __slots__ = ("constant", "ndim", "terms")
    __array_ufunc__ = None

    def __init__(self, constant: int, terms: dict[int, tuple[int, int]], ndim: int) -> None:
        self.constant, self.terms, self.ndim = constant, terms, ndim

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.terms[a][0] if a in self.terms else 1 for a in range(self.ndim))

    def array(self) -> Array:
        """The index values, one axis for each axis of the grid."""
        total: Array = np.full((1,) * self.ndim, self.constant, np.int64)
        for axis, (count, step) in self.terms.items():
            total = total + (np.arange(count) * step).reshape([-1 if a == axis else 1 for a in range(self.ndim)])
        return total

    def span(self) -> tuple[int, int]:
        """Smallest and largest index value."""
        low = self.constant + sum(min(0, (n - 1) * s) for n, s in self.terms.values())
        high = self.constant + sum(max(0, (n - 1) * s) for n, s in self.terms.values())
        return low, high

    def __getitem__(self, key: Any) -> Grid:
        keys = key if isinstance(key, tuple) else (key,)
        if any(k is not None and k != slice(None) for k in keys):
            raise NkiError("an index grid can only be indexed with None and full slices, as in nl.arange(128)[:, None]")
        terms, source = {}, 0
        for axis, k in enumerate(keys):
            if k is not None:
                if source in self.terms:
                    terms[axis] = self.terms[source]
                source += 1
        if source < self.ndim:
            raise NkiError(f"index grid with {self.ndim} axes indexed with {source} slices")
        return Grid(self.constant, terms, len(keys))

    def _shifted(self, extra: int) -> dict[int, tuple[int, int]]:
        return {a + extra: t for a, t in self.terms.items()} if extra else dict(self.terms)

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Grid):
            ndim = max(self.ndim, other.ndim)
            terms = self._shifted(ndim - self.ndim)
            for axis, (count, step) in other._shifted(ndim - other.ndim).items():
                if axis in terms:
                    if terms[axis][0] != count:
                        raise NkiError(f"index grids of shapes {self.shape} and {other.shape} do not broadcast")
                    step += terms[axis][1]
                terms[axis] = (count, step)
            return Grid(self.constant + other.constant, terms, ndim)
        if isinstance(other, INT) or hasattr(other, "__index__"):
            return Grid(self.constant + int(other), self.terms, self.ndim)
        if isinstance(other, np.ndarray):
            return self.array() + other
        return NotImplemented

    __radd__ = __add__

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, INT) or hasattr(other, "__index__"):
            k = int(other)
            return Grid(self.constant * k, {a: (n, s * k) for a, (n, s) in self.terms.items()}, self.ndim)
        if isinstance(other, (Grid, np.ndarray)):
            return self.array() * operand(other)
        return NotImplemented

    __rmul__ = __mul__

    def __neg__(self) -> Any:
        return self * -1

    def __sub__(self, other: Any) -> Any:
        return self + (-other)

    def __rsub__(self, other: Any) -> Any:
        return self * -1 + other

    def __floordiv__(self, other: Any) -> Any:
        return self.array() // operand(other)

    def __mod__(self, other: Any) -> Any:
        return self.array() % operand(other)

    def __lt__(self, other: Any) -> Any:
        return self.array() < operand(other)

    def __le__(self, other: Any) -> Any:
        return self.array() <= operand(other)

    def __gt__(self, other: Any) -> Any:
        return self.array() > operand(other)

    def __ge__(self, other: Any) -> Any:
        return self.array() >= operand(other)

    def __eq__(self, other: Any) -> Any:
        return self.array() == operand(other)

    def __ne__(self, other: Any) -> Any:
        return self.array() != operand(other)

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        raise NkiError("control flow cannot depend on an index grid made by nl.arange")


def operand(value: Any) -> Any:
    """The other operand of index arithmetic as numbers."""
    return value.array() if isinstance(value, Grid) else value


def arange(*args: Any) -> Grid:
    """`nl.arange([start,] stop[, step])`: a 1-D index grid."""
    numbers = range(*[int(a) for a in args])
    return Grid(numbers.start, {0: (len(numbers), numbers.step)}, 1)


class GridTuple(tuple[Any, ...]):
    """The grids of one `nl.mgrid[...]`, also by the names p, x, y, z, w."""

    def __getattr__(self, name: str) -> Any:
        position = "pxyzw".find(name) if len(name) == 1 else -1
        if not 0 <= position < len(self):
            raise AttributeError(name)
        return self[position]


class MeshGrid:
    """`nl.mgrid[0:128, 0:512]`."""

    def __getitem__(self, key: Any) -> GridTuple:
        keys = key if isinstance(key, tuple) else (key,)
        grids = []
        for axis, k in enumerate(keys):
            if not isinstance(k, slice) or k.stop is None:
                raise NkiError("nl.mgrid takes slices with a stop, as in nl.mgrid[0:128, 0:512]")
            numbers = range(int(k.start or 0), int(k.stop), int(k.step or 1))
            grids.append(Grid(numbers.start, {axis: (len(numbers), numbers.step)}, len(keys)))
        return GridTuple(grids)
