"""`pallas_call` as candidates get it: interpreted with checked memory, counted, and withheld when a check wants it.

A traced program is cached by JAX and runs many times, so the decision cannot be taken while it is traced. A callback
before each kernel takes it whenever the kernel is about to run: it counts the launch, or says that there is none, or
raises.
"""

from __future__ import annotations

import functools
import importlib
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.custom_batching import custom_vmap
from jax.experimental import io_callback
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu
from kengine.errors import CandidateFault
from kengine.model import Launch, Mode

CHECKED = pltpu.InterpretParams(out_of_bounds_reads="raise", uninitialized_memory="nan")
"""Memory of each kernel is simulated: an access outside it raises, and what nobody wrote is NaN."""

_HOMES = ("jax.experimental.pallas", "jax._src.pallas.pallas_call")
_OTHER_LAUNCHES = ("kernel", "core_map")


class LaunchWithheld(RuntimeError):
    """A kernel was launched while launches raise (mode "raise")."""


class _Session:
    """How launches behave now and which were seen; which kernels were traced and refused, and whether for a chip."""

    def __init__(self) -> None:
        self.mode = Mode.normal
        self.launches: list[Launch] = []
        self.traced: list[str] = []
        self.refused: list[Exception] = []
        self.lowering = False
        self.lock = threading.Lock()


_session = _Session()
_original: Callable[..., Any] = pl.pallas_call


def install() -> None:
    """Put the patched `pallas_call` in the place of JAX's, wherever a candidate may import it from."""
    for name in _HOMES:
        module = importlib.import_module(name)
        if getattr(module, "pallas_call", None) is _original:
            module.pallas_call = pallas_call  # type: ignore[attr-defined]
    for name in _OTHER_LAUNCHES:
        function = getattr(pl, name, None)
        if function is not None and not hasattr(function, "refuses"):
            setattr(pl, name, _refuse(name, function))


@contextmanager
def launching(mode: Mode) -> Iterator[list[Launch]]:
    """Have launches behave as `mode` says, and list those that are made."""
    _session.mode, _session.launches = mode, []
    try:
        yield _session.launches
    finally:
        _session.mode = Mode.normal


@contextmanager
def tracing(lowering: bool) -> Iterator[tuple[list[str], list[Exception]]]:
    """List the names of the kernels that are traced, and what tracing one raised.

    With `lowering` kernels are left as they are, for a chip.
    """
    _session.lowering, _session.traced, _session.refused = lowering, [], []
    try:
        yield _session.traced, _session.refused
    finally:
        _session.lowering = False


@functools.wraps(_original)
def pallas_call(kernel: Callable[..., None], out_shape: Any, **options: Any) -> Callable[..., Any]:
    """`jax.experimental.pallas.pallas_call`, whose launches are seen."""
    options.pop("interpret", None)
    name = str(options.get("name") or _name(kernel))
    grid = _grid(options)
    real = _original(kernel, out_shape, **options)
    interpreted = _original(kernel, out_shape, interpret=CHECKED, **options)
    aliases = dict(options.get("input_output_aliases") or {})

    def call(*arguments: Any) -> Any:
        _session.traced.append(name)
        try:
            if _session.lowering:
                return real(*arguments)
            return _gated(interpreted, name, grid, aliases)(*jax.tree_util.tree_map(jnp.asarray, arguments))
        except Exception as error:
            _session.refused.append(error)
            raise

    return call


def _gated(kernel: Callable[..., Any], name: str, grid: tuple[int, ...], aliases: dict[int, int]) -> Callable[..., Any]:
    """The kernel behind the callback that decides. Under `jax.vmap` it is one launch with one more axis to its grid."""

    def launch(*arguments: Any) -> Any:
        shapes = jax.eval_shape(kernel, *arguments)
        go = io_callback(functools.partial(_gate, name, grid), jax.ShapeDtypeStruct((), np.bool_))
        return lax.cond(go, lambda a: kernel(*a), lambda a: _untouched(a, shapes, aliases), arguments)

    def batched(size: int, mapped: Any, *arguments: Any) -> Any:
        axes = jax.tree_util.tree_map(lambda is_mapped: 0 if is_mapped else None, tuple(mapped))
        wide = _gated(jax.vmap(kernel, in_axes=axes, axis_size=size), name, (size, *grid), aliases)(*arguments)
        return wide, jax.tree_util.tree_map(lambda _: True, wide)

    mapped_as_one: Any = custom_vmap(launch)
    mapped_as_one.def_vmap(batched)

    def call(*arguments: Any) -> Any:
        return mapped_as_one(*arguments)

    return call


def _refuse(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A way of launching that the interpreter does not have: an honest `unsupported`, and as it was for a chip."""

    @functools.wraps(function)
    def refuse(*arguments: Any, **options: Any) -> Any:
        if _session.lowering:
            return function(*arguments, **options)
        raise CandidateFault("unsupported", f"pallas:interpret launches by pallas_call; pl.{name} needs a chip")

    refuse.refuses = True  # type: ignore[attr-defined]
    return refuse


def _gate(name: str, grid: tuple[int, ...]) -> Any:
    """Runs before each kernel: whether it is to be launched."""
    if _session.mode is Mode.noop:
        return np.bool_(False)
    if _session.mode is Mode.raises:
        raise LaunchWithheld(f"launch of {name} was withheld")
    with _session.lock:
        _session.launches.append(Launch(name, grid))
    return np.bool_(True)


def _untouched(arguments: Any, shapes: Any, aliases: dict[int, int]) -> Any:
    """The outputs of a kernel that did not run: memory that nobody wrote, and aliased inputs as they were."""
    given = jax.tree_util.tree_leaves(arguments)
    leaves, form = jax.tree_util.tree_flatten(shapes)
    filled = [_poison(leaf) for leaf in leaves]
    for source, target in aliases.items():
        filled[target] = jnp.broadcast_to(given[source], leaves[target].shape)
    return jax.tree_util.tree_unflatten(form, filled)


def _poison(leaf: Any) -> Any:
    if jnp.issubdtype(leaf.dtype, jnp.inexact):
        return jnp.full(leaf.shape, jnp.nan, leaf.dtype)
    if leaf.dtype == jnp.bool_:
        return jnp.ones(leaf.shape, leaf.dtype)
    return jnp.full(leaf.shape, jnp.iinfo(leaf.dtype).max, leaf.dtype)


def _name(kernel: Any) -> str:
    while isinstance(kernel, functools.partial):
        kernel = kernel.func
    return str(getattr(kernel, "__name__", type(kernel).__name__))


def _grid(options: dict[str, Any]) -> tuple[int, ...]:
    """The grid, as far as it is known before the launch."""
    grid = getattr(options.get("grid_spec"), "grid", options.get("grid", ()))
    extents = grid if isinstance(grid, tuple) else (grid,)
    return tuple(int(n) for n in extents if isinstance(n, (int, np.integer)))
