"""The reference, run three ways: as it is ("honest"), in float64 ("exact"), and exact on slightly moved inputs."""

from __future__ import annotations

import contextlib
import copy
import itertools
import random
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kengine.errors import TaskError
from kengine.judge.leaves import dtype_name, is_array, is_float, is_torch, map_leaves
from kengine.judge.module import TaskModule
from kengine.judge.seeds import seed_everything
from kengine.judge.tolerance import UNIT_ROUNDOFF

STEP = 2.0**-22
"""Relative size of the moves that sensitivity is measured with: far above float64's noise, far below curvature."""

Within = contextlib.AbstractContextManager[Any]

_FIX = "the reference must accept what the task's own inputs give it"


@dataclass
class Answer:
    """What one run of the reference gave: the returned value, and the written inputs in order."""

    value: Any
    written: list[Any]

    def arrays(self) -> list[Any]:
        """All arrays, depth first, written inputs last: the order of sinks."""
        from kengine.judge.leaves import arrays

        return [*arrays(self.value), *arrays(self.written)]


def run_honest(
    module: TaskModule,
    args: list[Any],
    model: Any,
    writes: tuple[int, ...],
    seed: int,
    precision: str = "strict",
    within: Within | None = None,
) -> Answer:
    """Run the reference in the task's own precision. `args` are private copies and may be written.

    within: a context around the call alone, such as a mode of torch that traces it. Raises TaskError when it raises.
    """
    with module.blame("the reference raised", _FIX), quiet(precision):
        return _run(module, args, copy.deepcopy(model), writes, seed, within)


def run_exact(
    module: TaskModule,
    args: list[Any],
    model: Any,
    writes: tuple[int, ...],
    seed: int,
    move: int | None = None,
    alternate: bool = False,
) -> Answer:
    """Run the reference with inputs and parameters in float64, `float32` in its own text read as float64.

    `move`: seed of a random relative change of 0.6 to 1.4 times `STEP` on every floating-point input and parameter;
    moves of one size would cancel in a sum of two large terms. alternate: every second array is moved the other way,
    so that what cancels between two of them in one run adds up in the other.
    Raises whatever the reference raises, since not every reference survives this.
    """
    change = _mover(move, alternate) if move is not None else _identity
    wide = [map_leaves(lambda a: change(widen(a)), a) for a in args]
    big = _widen_model(model, change)
    with quiet("strict"), _float64():
        return _run(module, wide, big, writes, seed)


def _run(
    module: TaskModule, args: list[Any], model: Any, writes: tuple[int, ...], seed: int, within: Within | None = None
) -> Answer:
    seed_everything(seed)
    function = model if module.task.form == "module" else module.entry
    with contextlib.redirect_stdout(sys.stderr), within or contextlib.nullcontext():
        value = function(*args)
    return Answer(value, [args[i] for i in writes])


def prepare_call(module: TaskModule, args: list[Any], model: Any, baseline: str) -> Callable[[], Any]:
    """A call of the reference on `args` with nothing around it, to be timed within `quiet`.

    baseline: "eager" for the reference as it stands, "compile" for it under `torch.compile`.
    """
    function: Any = copy.deepcopy(model) if module.task.form == "module" else module.entry
    if baseline == "compile":
        import torch

        if module.task.form == "module":
            function.compile()
        else:
            if module.compiled is None:
                module.compiled = torch.compile(function)
            function = module.compiled
    return lambda: function(*args)


@contextlib.contextmanager
def quiet(precision: str) -> Iterator[None]:
    """No gradients, no numpy warnings on stderr, and on a device no precision that the task did not ask for."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(np.errstate(all="ignore"))
        torch = sys.modules.get("torch")
        if torch is not None:
            stack.enter_context(torch.no_grad())
            stack.enter_context(_matrix_units(torch, precision == "tf32"))
        yield


@contextlib.contextmanager
def _matrix_units(torch: Any, allowed: bool) -> Iterator[None]:
    matmul, cudnn = torch.backends.cuda.matmul, torch.backends.cudnn
    before = (matmul.allow_tf32, cudnn.allow_tf32, matmul.allow_fp16_reduced_precision_reduction)
    try:
        matmul.allow_tf32, cudnn.allow_tf32, matmul.allow_fp16_reduced_precision_reduction = allowed, allowed, False
        yield
    finally:
        matmul.allow_tf32, cudnn.allow_tf32, matmul.allow_fp16_reduced_precision_reduction = before


@contextlib.contextmanager
def _float64() -> Iterator[None]:
    torch = sys.modules.get("torch")
    if torch is None:
        yield
        return
    from kengine.judge.widening import Widening

    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        with Widening():
            yield
    finally:
        torch.set_default_dtype(before)


def widen(array: Any) -> Any:
    """A copy of an array in float64 or complex128; other dtypes as they are."""
    name = dtype_name(array)
    if is_torch(array):
        import torch

        if is_float(array):
            return array.to(torch.float64, copy=True)
        return array.to(torch.complex128, copy=True) if name.startswith("complex") else array.clone()
    if is_float(array):
        return np.array(array, dtype=np.float64)
    return np.array(array, dtype=np.complex128) if name.startswith("complex") else np.array(array)


def _widen_model(model: Any, change: Callable[[Any], Any]) -> Any:
    if model is None:
        return None
    import torch

    big = copy.deepcopy(model).to(torch.float64)
    with torch.no_grad():
        for parameter in big.parameters():
            parameter.copy_(change(parameter.detach().clone()))
    return big


def _identity(array: Any) -> Any:
    return array


def _mover(seed: int, alternate: bool) -> Callable[[Any], Any]:
    state = random.Random(seed)
    number = itertools.count()

    def change(array: Any) -> Any:
        name = dtype_name(array)
        if not name.startswith(("float64", "complex128")) or is_whole(array):
            return array
        step = -STEP if next(number) % 2 and alternate else STEP
        if is_torch(array):
            import torch

            generator = torch.Generator(array.device).manual_seed(state.getrandbits(63))
            draw = torch.rand(array.shape, generator=generator, device=array.device, dtype=torch.float64) * 2 - 1
            return array * (1.0 + step * (0.8 * draw + torch.copysign(torch.full_like(draw, 0.6), draw)))
        draw = np.random.default_rng(state.getrandbits(63)).random(array.shape) * 2 - 1
        return array * (1.0 + step * (0.8 * draw + np.copysign(0.6, draw)))

    return change


def is_whole(array: Any) -> bool:
    """Whether an array holds nothing but whole numbers: a mask, counts, places; to move them would be to break them."""
    if dtype_name(array).startswith("complex"):
        return False
    return bool((array == (array.floor() if is_torch(array) else np.floor(array))).all())


def nudge(array: Any, seed: int) -> Any:
    """A floating-point array with every element moved up or down by two steps of its own dtype, others as they are."""
    if not is_float(array):
        return array
    step = 4 * UNIT_ROUNDOFF[dtype_name(array)]
    signs = np.random.default_rng(seed).integers(0, 2, tuple(array.shape)) * 2.0 - 1.0
    if is_torch(array):
        import torch

        factor = 1.0 + step * torch.from_numpy(np.asarray(signs)).to(array.device)
        return (array.to(torch.float64) * factor).to(array.dtype)
    return (np.asarray(array, dtype=np.float64) * (1.0 + step * signs)).astype(array.dtype)


def check_answer(task: str, answer: Answer) -> None:
    """Raise TaskError when a reference's result is not made of arrays and numbers, or holds no array at all."""
    _check_value(task, answer.value, "its result")
    if not answer.arrays():
        raise TaskError(
            f"task {task!r}: the reference returns no array ({type(answer.value).__name__}); return a tensor, or name "
            "the inputs that it writes in `writes`"
        )


def _check_value(task: str, value: Any, where: str) -> None:
    from kengine.judge.leaves import known_dtype

    if is_array(value):
        if not known_dtype(value):
            raise TaskError(f"task {task!r}: {where} has dtype {value.dtype}, which cannot be compared")
        if is_torch(value) and (value.is_sparse or value.is_nested or value.is_quantized):
            raise TaskError(f"task {task!r}: {where} is a {value.layout} tensor; return a dense one")
        return
    if isinstance(value, Mapping):
        for k, v in value.items():
            if not isinstance(k, str):
                raise TaskError(f"task {task!r}: {where} is a dict with a key {k!r} that is no string")
            _check_value(task, v, f"{where}[{k!r}]")
    elif isinstance(value, (list, tuple)):
        for i, v in enumerate(value):
            _check_value(task, v, f"{where}[{i}]")
    elif not (value is None or isinstance(value, (bool, int, float, complex, str))):
        raise TaskError(
            f"task {task!r}: {where} is a {type(value).__name__}; a reference may return arrays, numbers, strings, "
            "None, and lists, tuples or dicts of these"
        )
