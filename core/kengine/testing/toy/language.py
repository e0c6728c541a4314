"""The toy language: `@kernel` functions, grids, and memory that notices every index outside it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from kengine.model import Launch, Mode
from kengine.runner import watch

if TYPE_CHECKING:
    import numpy


class OutOfBounds(IndexError):
    """A program touched memory outside an argument; says argument, index, extent and program."""


class LaunchWithheld(RuntimeError):
    """A kernel was launched while launches raise (mode "raise")."""


class Kernel:
    """A function of one program; `kernel[grid](*arguments)` runs it for each point of the grid, one after the other.

    grid: an int or a tuple of positive ints. The function gets its place as first argument (an int for a grid of one
    axis, else a tuple), numpy arrays as `Memory`, and everything else as it is.
    """

    def __init__(self, function: Callable[..., None]) -> None:
        self.function = function
        self.name = function.__name__

    def __getitem__(self, grid: int | tuple[int, ...]) -> Callable[..., None]:
        shape = grid if isinstance(grid, tuple) else (grid,)
        if not shape or any(isinstance(n, bool) or not hasattr(n, "__index__") or n < 1 for n in shape):
            raise ValueError(f"{self.name}: want a grid of positive ints, got {grid!r}")
        extents = tuple(int(n) for n in shape)
        return lambda *arguments: self._launch(extents, arguments)

    def _launch(self, grid: tuple[int, ...], arguments: tuple[Any, ...]) -> None:
        if _SESSION.mode is Mode.noop:
            return
        if _SESSION.mode is Mode.raises:
            raise LaunchWithheld(f"launch of {self.name} was withheld")
        names = self.function.__code__.co_varnames[1:]
        # What happens inside is the kernel's work, whatever numpy is called for it.
        with watch.kernel(self.name, arguments):
            for program in itertools.product(*map(range, grid)):
                place = program[0] if len(program) == 1 else program
                self.function(
                    place, *(_wrap(a, n, place) for a, n in itertools.zip_longest(arguments, names[: len(arguments)]))
                )
        _SESSION.launches.append(Launch(self.name, grid))


def kernel(function: Callable[..., None]) -> Kernel:
    """Make a kernel of a function of one program."""
    return Kernel(function)


class Memory:
    """An argument as a program sees it: numpy indexing by ints, slices and integer arrays, each checked.

    numpy counts negative indices from the end and cuts slices to size; on a chip both read somebody else's memory, so
    both raise OutOfBounds here.
    """

    def __init__(self, array: numpy.ndarray[Any, Any], name: str, program: object) -> None:
        self._array = array
        self._name = name
        self._program = program
        self.shape = array.shape
        self.dtype = array.dtype

    def __len__(self) -> int:
        return len(self._array)

    def __getitem__(self, index: Any) -> Any:
        self._check(index)
        return self._array[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self._check(index)
        self._array[index] = value

    def _check(self, index: Any) -> None:
        import numpy as np

        parts = index if isinstance(index, tuple) else (index,)
        if len(parts) > len(self.shape):
            raise IndexError(f"argument {self._name} has {len(self.shape)} axes, got {len(parts)} indices")
        for axis, (part, extent) in enumerate(zip(parts, self.shape)):
            if isinstance(part, slice):
                if part.step is not None and part.step < 1:
                    raise IndexError(f"argument {self._name}: want a slice with a positive step, got {part.step}")
                start = 0 if part.start is None else part.start
                stop = extent if part.stop is None else part.stop
                if 0 <= stop <= start:
                    continue  # empty
                low, high = min(start, stop), stop - 1
            else:
                places = np.asarray(part)
                if places.dtype.kind not in "iu":
                    raise IndexError(f"argument {self._name}: want ints, slices or integer arrays, got {part!r}")
                if places.size == 0:
                    continue
                low, high = int(places.min()), int(places.max())
            if low < 0 or high >= extent:
                raise OutOfBounds(
                    f"argument {self._name}: index {low if low < 0 else high} of axis {axis}, which has {extent} "
                    f"elements, in program {self._program}"
                )


class _Session:
    """How launches behave now, and those that completed."""

    mode = Mode.normal

    def __init__(self) -> None:
        self.launches: list[Launch] = []


_SESSION = _Session()


@contextmanager
def session(mode: Mode) -> Iterator[list[Launch]]:
    """Have launches behave as `mode` says and list those that complete. For `kengine_launch`, not for candidates."""
    before = (_SESSION.mode, _SESSION.launches)
    _SESSION.mode, _SESSION.launches = mode, []
    try:
        yield _SESSION.launches
    finally:
        _SESSION.mode, _SESSION.launches = before


def _wrap(value: Any, name: str | None, program: object) -> Any:
    import numpy as np

    return Memory(value.view(np.ndarray), name or "?", program) if isinstance(value, np.ndarray) else value
