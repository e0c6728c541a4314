"""Launching kernels: the object that `nki.jit` returns."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .border import Argument, is_array, to_caller
from .buffers import HBM, SHARED_HBM
from .capacity import check_capacity
from .errors import KnockedOut, NkiError, RunFault, check, kernel_frame
from .lnc import Rendezvous
from .program import Program, state
from .session import LaunchState, Session, active_session, session
from .stats import Launch
from .tensor import NkiTensor
from .tensor_new import NewTensor
from .tensor_old import OldTensor

CLASSES: dict[str, type[NkiTensor]] = {"new": NewTensor, "old": OldTensor}


class Kernel:
    """A jitted function. Calling it runs it; `kernel[grid]` sets the grid."""

    func: Callable[..., Any]

    def __init__(self, func: Callable[..., Any], generation: str, grid: tuple[int, ...] | None = None) -> None:
        inner: Callable[..., Any] = func.func if isinstance(func, Kernel) else func
        if not callable(inner):
            raise NkiError(f"jit expects a function, got {type(func).__name__}")
        self.func, self.generation, self.grid = inner, generation, grid
        functools.update_wrapper(self, inner)
        self.__name__ = getattr(inner, "__name__", "kernel")

    def __getitem__(self, grid: Any) -> Kernel:
        if self.generation == "new":
            if isinstance(grid, tuple) or not isinstance(grid, (int, np.integer)) or int(grid) not in (1, 2):
                raise NkiError(f"NKI only supports LNC 1 or 2, but got {grid}")
            return Kernel(self.func, "new", (int(grid),))
        sizes = grid if isinstance(grid, tuple) else (grid,)
        for size in sizes:
            check(isinstance(size, (int, np.integer)) and int(size) > 0, f"grid must hold positive ints, got {grid}")
        return Kernel(self.func, "old", tuple(int(s) for s in sizes))

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else Kernel(self.func.__get__(instance, owner), self.generation, self.grid)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        program = state.program
        if program is not None:
            check(self.grid is None, f"nested kernel `{self.__name__}` cannot be called with an SPMD grid")
            check(program.generation == self.generation, f"kernel `{self.__name__}` is of another NKI generation")
            return self.func(*args, **kwargs)
        running = active_session()
        if running is not None:
            return launch(running, self, args, kwargs)
        with session() as fallback:
            return launch(fallback, self, args, kwargs)


def _grid(run: Session, kernel: Kernel) -> tuple[int, ...]:
    if kernel.grid is None:
        return (run.options.lnc,) if kernel.generation == "new" else (1,)
    if kernel.generation == "new" and kernel.grid != (1,) and run.options.limits.generation < 3:
        raise NkiError(f"LNC {kernel.grid[0]} is only supported for NeuronCore-v3 or newer, got {run.options.chip}")
    return kernel.grid


def launch(run: Session, kernel: Kernel, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run `kernel` under `run` on arrays; returns arrays of the callers' kind."""
    grid = _grid(run, kernel)
    name = kernel.__name__
    code = getattr(kernel.func, "__code__", None)
    sources = run.sources | ({code.co_filename} if code is not None else set())
    if run.knockout == "raise":
        run.launches.append(Launch(name, kernel.generation, grid, completed=False))
        raise KnockedOut(f"kernel `{name}` was asked not to run")
    state_ = LaunchState(run, name, kernel.generation, grid, CLASSES[kernel.generation])
    state_.grid_ndim = 0 if kernel.grid is None and grid == (1,) else len(grid)
    arguments: list[Argument] = []
    bound = _bind(state_, kernel, args, kwargs, arguments, copy=run.knockout == "noop")
    pids = list(np.ndindex(*grid))
    state_.programs = [Program(state_, pid, rank) for rank, pid in enumerate(pids)]
    results: list[Any] = [None] * len(pids)
    made: list[Any] = []
    with run.follow(name, [argument.original for argument in arguments], made):
        outputs = _execute(state_, kernel, bound, results, arguments, sources)
        torch_out = any(a.torch for a in arguments)
        inputs = {id(a.storage) for a in arguments}
        made += [to_caller(t, torch_out, id(t.storage) in inputs) for t in _tensors(outputs)]
    handed = iter(made)
    return _map(outputs, lambda _: next(handed))


def _execute(
    state_: LaunchState,
    kernel: Kernel,
    bound: Any,
    results: list[Any],
    arguments: list[Argument],
    sources: set[str],
) -> Any:
    """Run the programs of a launch and put what they wrote where it belongs; the tensors that the kernel returned."""
    run, name, grid = state_.session, state_.kernel, state_.grid
    completed = False
    try:
        _run_programs(state_, kernel, bound, results)
        outputs = results[0]
        returned = list(_tensors(outputs))
        _check_outputs(state_, kernel, returned, arguments)
        completed = True
    except (KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except BaseException as error:
        fault = _placed(error, sources)
        run.faults.append(fault)
        raise fault from (error.__cause__ if fault is error else error)
    finally:
        work = sum(p.count for p in state_.programs)
        run.work += work
        for program in state_.programs:
            run.stats.add(program.tally, program.dma_bytes, program.macs)
        count = sum(int(entry[0]) for p in state_.programs for entry in p.tally.values())
        run.launches.append(Launch(name, kernel.generation, grid, count, completed))
    for argument in arguments:
        argument.bring_back()
    if run.knockout == "noop":
        for tensor in returned:
            tensor.storage.poison()
    return outputs


def _bind(
    launch_: LaunchState,
    kernel: Kernel,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    found: list[Argument],
    copy: bool,
) -> inspect.BoundArguments | tuple[tuple[Any, ...], dict[str, Any]]:
    """Wrap array arguments, wherever they sit in tuples, lists and dicts, as HBM tensors named like their parameter."""
    try:
        bound = inspect.signature(kernel.func).bind(*args, **kwargs)
    except TypeError as error:
        raise NkiError(f"{kernel.__name__}() {error}") from None
    annotations = getattr(kernel.func, "__annotations__", {})
    seen: dict[int, Argument] = {}

    def wrap(value: Any, name: str) -> Any:
        if is_array(value):
            if id(value) not in seen:
                seen[id(value)] = argument = Argument(launch_, value, name, copy, len(found))
                found.append(argument)
                if kernel.generation == "old" and getattr(annotations.get(name), "immutable", False):
                    argument.storage.immutable = name
            return seen[id(value)].tensor
        if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
            return type(value)(wrap(v, name) for v in value)
        if isinstance(value, dict):
            return {k: wrap(v, name) for k, v in value.items()}
        return value

    for name, value in bound.arguments.items():
        bound.arguments[name] = wrap(value, name)
    return bound


def _run_programs(launch_: LaunchState, kernel: Kernel, bound: Any, results: list[Any]) -> None:
    programs = launch_.programs
    reverse = launch_.session.options.reverse_ranges

    from .loader import facade  # kernels may import inside of their function

    def body(rank: int) -> None:
        previous, state.program = state.program, programs[rank]
        try:
            with np.errstate(all="ignore"):
                results[rank] = kernel.func(*bound.args, **bound.kwargs)
        finally:
            state.program = previous
        _finish(programs[rank])

    with facade():
        if len(programs) == 2 and kernel.generation == "new":
            launch_.rendezvous = Rendezvous(2)
            launch_.rendezvous.run([functools.partial(body, rank) for rank in range(2)], first=1 if reverse else 0)
            return
        order = range(len(programs))
        for rank in reversed(order) if reverse else order:
            body(rank)


def _finish(program: Program) -> None:
    """Check the capacities; tiles were freed when the kernel's frame ended."""
    sbuf, psum = check_capacity(program)
    stats = program.launch.session.stats
    stats.sbuf_peak_bytes = max(stats.sbuf_peak_bytes, sbuf)
    stats.psum_peak_bytes = max(stats.psum_peak_bytes, psum)


def _tensors(value: Any) -> Iterator[NkiTensor]:
    if isinstance(value, NkiTensor):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _tensors(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _tensors(item)


def _map(value: Any, change: Callable[[NkiTensor], Any]) -> Any:
    if isinstance(value, NkiTensor):
        return change(value)
    if isinstance(value, dict):
        return {k: _map(v, change) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        items = [_map(v, change) for v in value]
        return tuple(items) if isinstance(value, list) or not hasattr(value, "_fields") else type(value)(*items)
    return value


def _check_outputs(launch_: LaunchState, kernel: Kernel, returned: list[NkiTensor], arguments: list[Argument]) -> None:
    """Outputs must be HBM tensors that instructions wrote."""
    inputs = {id(a.storage) for a in arguments}
    if not returned and not any(a.storage.dirty for a in arguments):
        raise NkiError(f"kernel `{kernel.__name__}` returned no tensor and wrote none of its arguments")
    for tensor in returned:
        storage = tensor.storage
        if id(storage) in inputs:
            continue
        if storage.region.on_chip or (launch_.generation == "new" and storage.region is not SHARED_HBM):
            raise NkiError(
                f"kernel output `{tensor.name}` must be allocated in nl.shared_hbm, got a tensor in {storage.region}"
            )
        if storage.region is HBM and len(launch_.programs) > 1 and launch_.generation == "new":
            raise NkiError(f"kernel output `{tensor.name}` of an LNC 2 kernel must be in nl.shared_hbm")
        if tensor.gather is not None:
            raise NkiError(f"kernel output `{tensor.name}` is an indirect view")
        if not storage.dirty:
            raise NkiError(f"output tensor `{tensor.name}` of shape {tensor.shape} is never written to")
        if not storage.all_written():
            message = f"output tensor `{tensor.name}` of shape {tensor.shape} is not fully written"
            if tensor.dtype.kind != "f":
                raise RunFault(f"{message} (or holds integers computed from memory never written)")
            launch_.session.add_warning(message, None, None)


def _placed(error: BaseException, sources: set[str]) -> NkiError:
    """The error with the kernel's own line; ordinary Python errors become NkiError."""
    where = kernel_frame(error.__traceback__, sources)
    if not isinstance(error, NkiError):
        error = NkiError(f"{type(error).__name__}: {error}".removesuffix(": "))
    if where is not None:
        error.place(*where)
    return error
