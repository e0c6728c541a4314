"""Kernel launches of this process: how they behave in each mode, and a count of those that completed.

Compiled kernels are seen where they are launched (`CompiledKernel.run`), so that no way of launching goes past it;
interpreted ones in `GridExecutor.__call__`. Trial runs of an autotuner behave by the mode too, but are not counted.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from kengine.device import graphs, streams
from kengine.model import Launch, Mode
from kengine.runner import turn, watch

from kengine_triton import choices
from kengine_triton.names import find_globals

LARGEST_TABLE = 8192
"""Elements of a tensor of integers that may hold addresses."""


class LaunchRefused(RuntimeError):
    """Raised instead of a launch in mode `raise`."""


class HostTensor(ValueError):
    """A kernel was given a tensor in host memory, which a device refuses."""


@dataclass
class Observation:
    """What is under way: the mode, completed launches in order, and every compiled kernel that was met."""

    mode: Mode = Mode.normal
    launches: list[Launch] = field(default_factory=list)
    errors: list[Exception] = field(default_factory=list)
    kernels: dict[str, Any] = field(default_factory=dict)
    tuning: int = 0

    def starts(self, kernel: str) -> bool:
        """Whether a launch of this kernel is to happen. Raises LaunchRefused in mode `raise`."""
        if self.mode is Mode.raises:
            raise LaunchRefused(f"launch of kernel '{kernel}' was refused")
        return self.mode is not Mode.noop

    def completed(self, kernel: str, grid: tuple[int, ...]) -> None:
        """Count one launch; the same launch several times in a row is one entry."""
        if self.tuning:
            return
        last = self.launches[-1] if self.launches else None
        if last is not None and last.kernel == kernel and last.grid == grid:
            self.launches[-1] = Launch(kernel, grid, last.count + 1)
        else:
            self.launches.append(Launch(kernel, grid))


_current = Observation()
_pretending = False
_installed: set[str] = set()


@contextmanager
def observing(mode: Mode) -> Iterator[Observation]:
    """Start a new observation; launches outside any block behave normally."""
    global _current
    before, _current = _current, Observation(mode)
    try:
        yield _current
    finally:
        _current = before


@contextmanager
def pretending() -> Iterator[None]:
    """Inside the block tensors pretend to be on a device, and launches refuse those that do not."""
    global _pretending
    before, _pretending = _pretending, True
    try:
        yield
    finally:
        _pretending = before


def choose(names: list[str], args: tuple[Any, ...], kwargs: dict[str, Any], constants: Iterable[str]) -> None:
    """Note the constants that a launch was given, by the names of a kernel's parameters."""
    wanted = set(constants)
    for name, value in [*zip(names, args), *kwargs.items()]:
        if name in wanted:
            choices.note(f"argument {name}", value)


def _choose_globals(kernel: Any, seen: set[int]) -> None:
    """Note the constants among the globals of a compiled kernel and of its helpers."""
    if id(kernel) in seen or not hasattr(kernel, "fn"):
        return
    seen.add(id(kernel))
    choices.note_code(str(getattr(kernel.fn, "__qualname__", ""))[:80], kernel.fn)
    for name, value in find_globals(kernel.fn):
        choices.note_global(name, value)
        if type(value) is type(kernel):
            _choose_globals(value, seen)


def install_compiled() -> None:
    """Watch compiled kernels of this process, once."""
    from triton.compiler.compiler import CompiledKernel

    if "compiled" in _installed:
        return
    _installed.add("compiled")
    graphs.install(lambda: _current)
    inner: Any = getattr(CompiledKernel, "run", None)
    if isinstance(inner, property):
        load: Any = inner.fget
        CompiledKernel.run = property(lambda self: _observed(self, load(self)))
    else:
        # Triton 3.3 makes the launcher an attribute and loads the kernel when it is looked up.
        get = CompiledKernel.__getattribute__

        def attribute(self: Any, name: str) -> Any:
            value = get(self, name)
            return _observed(self, value) if name == "run" else value

        CompiledKernel.__getattribute__ = attribute
    _watch_compiling()
    _watch_tuning()


def install_interpreted() -> None:
    """Watch interpreted kernels of this process, once."""
    from triton.runtime import interpreter

    if "interpreted" in _installed:
        return
    _installed.add("interpreted")
    inner = interpreter.GridExecutor.__call__

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        observation = _current
        name = self.fn.__name__
        # Triton 3.3 comes here straight from `kernel[grid]`, also for a warm-up.
        if kwargs.pop("warmup", False):
            return None
        _refuse_host_tensors(self.arg_names, args, kwargs)
        choose(self.arg_names, args, kwargs, getattr(self, "constexprs", ()))
        choices.note("kernel", name)
        if not observation.starts(name):
            return None
        if watch.active():
            executor = _with_grid(self, args, kwargs)
            with watch.kernel(name, find_arrays([*args, *kwargs.values()])):
                result = inner(executor, *args, **kwargs)
        else:
            result = inner(self, *args, **kwargs)
        grid = getattr(interpreter.interpreter_builder, "grid_dim", ())
        observation.completed(name, _trim(tuple(int(n) for n in grid)))
        return result

    interpreter.GridExecutor.__call__ = call
    _watch_tuning()


def _observed(kernel: Any, launch: Callable[..., Any]) -> Callable[..., Any]:
    def run(x: int, y: int, z: int, *args: Any, **kwargs: Any) -> Any:
        observation = _current
        observation.kernels.setdefault(kernel.hash, kernel)
        # Compiled code may be named otherwise (`triton.jit(repr=...)`).
        name = str(getattr(getattr(kernel.src, "fn", None), "__name__", kernel.name))
        names = getattr(getattr(kernel.src, "fn", None), "arg_names", [])
        _refuse_host_tensors(names, args[len(args) - len(names) :], {})
        if not observation.starts(name):
            return None
        given, grid = args[len(args) - len(names) :], _trim((int(x), int(y), int(z)))
        turn.take()
        if watch.active():
            from kengine.device.trace import launching

            with launching(name, () if graphs.capturing() else find_arrays(given)):
                result = launch(x, y, z, *args, **kwargs)
        else:
            # Trial runs are timed and give nothing that is read.
            with nullcontext() if observation.tuning else streams.launching(name, _stream(args)):
                result = launch(x, y, z, *args, **kwargs)
        if not graphs.captured(name, grid, lambda: _captured_arrays(given)):
            observation.completed(name, grid)
        return result

    return run


def _stream(args: tuple[Any, ...]) -> int | None:
    """The stream that a compiled kernel is launched in: the first argument after the grid."""
    return args[0] if args and type(args[0]) is int else None


def _with_grid(executor: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The same launch with what the wrapper computes for it done already: its grid, and hooks before the run.

    They are host code, which is followed; the launch is not.
    """
    hooks = getattr(executor, "pre_run_hooks", ())
    if not callable(executor.grid) and not hooks:
        return executor
    known = set(inspect.signature(executor.fn).parameters)
    named = {name: value for name, value in kwargs.items() if name in known}
    for hook in hooks:
        hook(*args, **named)
    made = copy.copy(executor)
    made.pre_run_hooks = []
    if callable(executor.grid):
        made.grid = tuple(executor.grid(inspect.getcallargs(executor.fn, *args, **named)))
    return made


def find_arrays(values: Any) -> list[Any]:
    """Every array that a kernel gets at by its arguments, in tuples and descriptors too.

    An address may come as a number or as an element of a tensor of 64-bit integers; then it is the memory behind it.
    """
    with watch.pause():
        found = list(_arrays(values))
        numbers = [n for n in values if type(n) is int]
        for tensor in found:
            if str(tensor.dtype) in ("torch.int64", "torch.uint64") and 0 < tensor.numel() <= LARGEST_TABLE:
                numbers += tensor.detach().reshape(-1).tolist()
    return [*found, *watch.blocks(numbers)]


def _captured_arrays(values: Any) -> list[Any]:
    """The same for a launch that is captured: nothing can be read then, so that addresses are not followed.

    Raises CandidateFault (unsupported) where a kernel gets at memory by them alone.
    """
    found = list(_arrays(values))
    if not found:
        graphs.refuse("a launch without a tensor among its arguments")
    return found


def _arrays(values: Any) -> Iterator[Any]:
    import torch

    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, (tuple, list)):
            yield from _arrays(value)
        elif hasattr(value, "base"):  # a descriptor, or a tensor reinterpreted as another type
            yield from _arrays([value.base])


def _trim(grid: tuple[int, ...]) -> tuple[int, ...]:
    while len(grid) > 1 and grid[-1] == 1:
        grid = grid[:-1]
    return grid


def _refuse_host_tensors(names: list[str], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    if not _pretending:
        return
    import torch
    from kengine.pretence.tensors import on_host

    for name, value in [*zip(names, args), *kwargs.items()]:
        if isinstance(value, torch.Tensor) and value.layout == torch.strided and on_host(value):
            raise HostTensor(
                f"Pointer argument '{name}' cannot be accessed from Triton (cpu tensor?): it was made without "
                "device=..., which gives a host tensor on a machine with a device"
            )


def _watch_tuning() -> None:
    from triton.runtime.autotuner import Autotuner

    if "tuning" in _installed:
        return
    _installed.add("tuning")
    inner = Autotuner._bench

    def bench(self: Any, *args: Any, **kwargs: Any) -> Any:
        observation = _current
        observation.tuning += 1
        try:
            with watch.pause():  # what is saved and put back around a trial run is Triton's own work
                return inner(self, *args, **kwargs)
        finally:
            observation.tuning -= 1

    Autotuner._bench = bench


def _watch_compiling() -> None:
    """Keep errors of compiling, so that a wrapper that swallows them does not hide them."""
    from triton.runtime.jit import JITFunction

    inner = JITFunction.run

    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        observation = _current
        # On a device every launch is one that may be timed, and there is no other side to hold it against.
        noted = _pretending and type(self) is JITFunction
        if noted:
            params = getattr(self, "params", ())
            choose([p.name for p in params], args, kwargs, [p.name for p in params if p.is_constexpr])
            _choose_globals(self, set())
        try:
            result = inner(self, *args, **kwargs)
        except Exception as error:
            if not observation.tuning:
                observation.errors.append(error)
            raise
        if noted and not kwargs.get("warmup"):
            choices.note("kernel", str(getattr(self, "__name__", "")))
        return result

    JITFunction.run = run
