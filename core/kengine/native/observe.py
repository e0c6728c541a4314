"""Kernel launches of this process: how they behave in each mode, those that completed, and faults on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field

from kengine.errors import CandidateFault
from kengine.model import Launch, Mode
from kengine.runner import hostmemory, watch


class LaunchRefused(RuntimeError):
    """Raised instead of a launch in mode `raise`."""


@dataclass
class Observation:
    """What is under way. faults: what went wrong, kept because a wrapper may swallow the exception.

    checked, unchecked: launches of an emulator that ran with and without its check mode. restart: set when the call
    is to be made anew, with the candidate loaded afresh after calling it.
    """

    mode: Mode = Mode.normal
    launches: list[Launch] = field(default_factory=list)
    faults: list[CandidateFault] = field(default_factory=list)
    checked: int = 0
    unchecked: int = 0
    restart: Callable[[], None] | None = None

    def starts(self, kernel: str) -> bool:
        """Whether a launch of this kernel is to happen. Raises LaunchRefused in mode `raise`."""
        if self.mode is Mode.raises:
            raise LaunchRefused(f"launch of kernel '{kernel}' was refused")
        return self.mode is not Mode.noop

    def completed(self, kernel: str, grid: tuple[int, ...]) -> None:
        """Count one launch; the same launch several times in a row is one entry."""
        while len(grid) > 1 and grid[-1] == 1:
            grid = grid[:-1]
        last = self.launches[-1] if self.launches else None
        if last is not None and last.kernel == kernel and last.grid == grid:
            self.launches[-1] = Launch(kernel, grid, last.count + 1)
        else:
            self.launches.append(Launch(kernel, grid))

    def failed(self, fault: CandidateFault) -> CandidateFault:
        """Keep a fault, and give it back to be raised."""
        self.faults.append(fault)
        return fault

    def pending(self) -> CandidateFault | None:
        """The fault that counts although the wrapper went on: of a launch always, of a compile if nothing ran."""
        for fault in self.faults:
            if fault.status != "compile_failed" or not self.launches:
                return fault
        return None


_current = Observation()
_inside = False


def current() -> Observation:
    """The observation under way."""
    return _current


@contextmanager
def observing(mode: Mode | Observation) -> Iterator[Observation]:
    """Start a new observation; launches outside any block behave normally."""
    global _current
    before, _current = _current, mode if isinstance(mode, Observation) else Observation(mode)
    try:
        yield _current
    finally:
        _current = before


def kernel(
    name: str,
    arguments: Iterable[object],
    pinned: Sequence[tuple[int, int]] = (),
    fresh: Sequence[tuple[int, int]] = (),
) -> AbstractContextManager[None]:
    """Around a launch that happens: followed where the call is, once where one launch is made by way of another.

    pinned, fresh: see `hostmemory.before_launch`.
    """
    return _follow(name, arguments, pinned, fresh) if watch.active() and not _inside else nullcontext()


@contextmanager
def _follow(
    name: str,
    arguments: Iterable[object],
    pinned: Sequence[tuple[int, int]],
    fresh: Sequence[tuple[int, int]],
) -> Iterator[None]:
    global _inside
    _inside = True
    try:
        given = list(arguments)
        variables = hostmemory.before_launch(given, pinned, fresh)
        with watch.kernel(name, [*given, *variables]):
            yield
        hostmemory.after_launch(pinned)
    finally:
        _inside = False
