"""Kernels of the real packages with a wrapper around each, so that every launch of a candidate is seen."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy
from kengine.errors import CandidateFault
from kengine.model import Candidate, Launch, Mode
from kengine.runner import source, watch

ROOTS = {"new": "nki", "old": "neuronxcc.nki"}
Run = Callable[["Kernel", tuple[Any, ...], dict[str, Any]], Any]


class LaunchRefused(RuntimeError):
    """Raised instead of a launch in mode `raise`."""


class Compiled(Exception):
    """Raised instead of a launch where there is no device: the kernel is compiled, its result is not to be had."""


@dataclass
class Watch:
    """How launches behave now, and those that completed."""

    run: Run | None = None
    mode: Mode = Mode.normal
    launches: list[Launch] = field(default_factory=list)
    inside: bool = False


_watch = Watch()


class Kernel:
    """One kernel of a real package; calling it goes through the watch, except from within another kernel."""

    def __init__(self, inner: Any, generation: str, function: Any, grid: Any = None) -> None:
        self.inner, self.generation, self.function, self.grid = inner, generation, function, grid
        self.__name__ = str(getattr(function, "__name__", "kernel"))
        self.__wrapped__ = function

    def __getitem__(self, grid: Any) -> Kernel:
        return Kernel(self.inner[grid], self.generation, self.function, grid)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if _watch.inside or _watch.run is None:
            return self.inner(*args, **kwargs)
        if _watch.mode is Mode.raises:
            raise LaunchRefused(f"launch of kernel '{self.__name__}' was refused")
        before, _watch.inside = _watch.inside, True
        returned: list[Any] = []
        try:
            with watch.kernel(self.__name__, _arrays([*args, *kwargs.values()]), returned):
                value = _watch.run(self, args, kwargs)
                returned += _arrays([value])
        finally:
            _watch.inside = before
        if _watch.mode is Mode.noop:
            return _spoilt(value)
        grid = self.grid if isinstance(self.grid, tuple) else (self.grid or 1,)
        _watch.launches.append(Launch(self.__name__, tuple(int(n) for n in grid)))
        return value


@contextmanager
def watching(run: Run, mode: Mode) -> Iterator[Watch]:
    """Send every launch in the block to `run`."""
    global _watch
    before, _watch = _watch, Watch(run, mode)
    try:
        yield _watch
    finally:
        _watch = before


def load(candidate: Candidate, workdir: Path) -> ModuleType:
    """Execute the candidate with `nki.jit` of the real packages wrapped. Raises CandidateFault."""
    with _wrapped("new"), _wrapped("old"):
        return source.load(candidate, workdir)


@contextmanager
def _wrapped(generation: str) -> Iterator[None]:
    try:
        package: Any = import_module(ROOTS[generation])
        jit = package.jit
    except (ImportError, AttributeError):  # only the other generation is installed
        yield
        return

    def wrapping(function: Any = None, **options: Any) -> Any:
        if function is None:
            return lambda f: wrapping(f, **options)
        return Kernel(jit(function, **options), generation, function)

    package.jit = wrapping
    try:
        yield
    finally:
        package.jit = jit


def _arrays(values: Any) -> list[Any]:
    found = [a for v in values if isinstance(v, (list, tuple)) for a in _arrays(v)]
    return [*found, *(v for v in values if hasattr(v, "dtype") and hasattr(v, "shape"))]


def as_numpy(value: Any) -> Any:
    """Arguments as the official tools take them: torch tensors as numpy arrays over the same memory."""
    if isinstance(value, numpy.ndarray):
        return value.view(numpy.ndarray)
    if type(value).__module__.partition(".")[0] != "torch" or not hasattr(value, "numpy"):
        return value
    try:
        return value.detach().numpy()
    except TypeError:
        message = f"{value.dtype} tensors have no numpy form that the Neuron SDK's host functions take"
        raise CandidateFault("unsupported", message) from None


def as_given(value: Any, args: tuple[Any, ...]) -> Any:
    """Results in the framework of the arguments."""
    if not any(type(a).__module__.partition(".")[0] == "torch" for a in args):
        return value
    import torch

    if isinstance(value, (list, tuple)):
        return type(value)(as_given(v, args) for v in value)
    return torch.from_numpy(value) if type(value).__module__ == "numpy" else value


def _spoilt(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)(_spoilt(v) for v in value)
    made = value.clone() if hasattr(value, "clone") else value.copy()
    made[...] = float("nan") if "float" in str(made.dtype) else 1
    return made
