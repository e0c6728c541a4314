"""Inputs of one case: drawn by the task under a seed of the judge's, then given the case's dtype and value class."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kengine.errors import TaskError
from kengine.judge.leaves import dtype_name, is_array, map_leaves
from kengine.judge.module import TaskModule
from kengine.judge.seeds import seed_everything
from kengine.model import Case


@dataclass
class Drawn:
    """What one draw gave: arguments of the call and, for form "module", of the constructor, and the built model."""

    args: list[Any]
    init_args: list[Any] = field(default_factory=list)
    model: Any = None


def draw(module: TaskModule, case: Case, seed: int, device: str) -> Drawn:
    """Draw the inputs of `case` under `seed`. Raises TaskError when the task's own code fails."""
    seed_everything(seed)
    fix = "make_inputs must accept seed and device, and every name in the case's params"
    if module.task.form == "function":
        with module.blame("make_inputs raised", fix):
            args = _call_seeded(module.drawer, seed, device, case.params)
        return Drawn(_as_list(module, args, "make_inputs"))
    with module.blame("get_inputs raised", "get_inputs must run with no arguments on this machine"):
        args = _call_plain(module, module.drawer, case.params)
    drawn = Drawn(_as_list(module, args, "get_inputs"))
    if module.task.form == "module":
        _build(module, drawn, case, seed)
    return drawn


def _call_seeded(make: Callable[..., Any], seed: int, device: str, params: Mapping[str, Any]) -> Any:
    try:
        return make(seed, device, **params)
    except (ValueError, OverflowError, RuntimeError) as error:
        # numpy's old generator takes 32 bits and a C long 63; a task written for them gets what fits.
        text = str(error).lower()
        if "seed" in text or "overflow" in text or "too large" in text or "2**32" in text:
            seed_everything(seed)
            return make(seed & 0xFFFFFFFF, device, **params)
        raise


def _call_plain(module: TaskModule, function: Callable[..., Any], params: Mapping[str, Any]) -> Any:
    if not params:
        return function()
    try:
        accepted = inspect.signature(function).parameters
        takes_all = all(name in accepted for name in params)
    except (TypeError, ValueError):
        takes_all = False
    if takes_all:
        return function(**params)
    with module.overridden(params):
        return function()


def _as_list(module: TaskModule, value: Any, name: str) -> list[Any]:
    if isinstance(value, (list, tuple)):
        return list(value)
    if is_array(value):
        return [value]
    raise TaskError(
        f"task {module.task.name!r}: {name} must return a list or tuple of the reference's arguments, "
        f"it returned {type(value).__name__}"
    )


def _build(module: TaskModule, drawn: Drawn, case: Case, seed: int) -> None:
    getter = module.optional("get_init_inputs")
    if getter is not None:
        with module.blame("get_init_inputs raised", "get_init_inputs must run with no arguments"):
            got = getter()
            if case.params and not inspect.signature(getter).parameters:
                known = {k: v for k, v in case.params.items() if k in vars(module.namespace)}
                with module.overridden(known):
                    got = getter()
        drawn.init_args = _as_list(module, got, "get_init_inputs")
    with module.blame("Model(*get_init_inputs()) raised", "check the constructor's arguments"):
        seed_everything(seed ^ 0x5DEECE66D)
        drawn.model = module.entry(*drawn.init_args)
        _vary_constants(drawn.model)


def _vary_constants(model: Any) -> None:
    """Give parameters that are one constant (gains of 1, biases of 0) different values, and what a normalisation in
    evaluation mode divides by likewise.

    Otherwise a kernel that leaves them out is indistinguishable from one that applies them.
    """
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(model, "named_parameters"):
        return
    with torch.no_grad():
        for _, parameter in model.named_parameters():
            if parameter.numel() and parameter.dtype.is_floating_point:
                _vary(torch, parameter)
        for part in model.modules():
            if isinstance(part, torch.nn.modules.batchnorm._NormBase) and not part.training:
                for statistic in (part.running_mean, part.running_var):
                    if statistic is not None:
                        _vary(torch, statistic)


def _vary(torch: Any, parameter: Any) -> None:
    first = float(parameter.flatten()[0])
    if not bool((parameter == first).all()):
        return
    noise = torch.rand(parameter.shape, dtype=torch.float32).to(parameter)
    if parameter.numel() == 1:
        # A single number is left as it is unless leaving it out changes nothing; it may be under a root.
        if first in (0.0, 1.0):
            parameter.add_(0.125 + 0.25 * noise)
    elif first == 0.0:
        parameter.copy_((noise - 0.5) * 0.25)
    else:
        parameter.mul_(0.5 + noise)


def apply_dtype(drawn: Drawn, dtype: str, task: str) -> None:
    """Cast floating-point inputs and parameters to `dtype` in place. Raises TaskError for a name that is no float."""
    if not dtype:
        return
    if not dtype.startswith(("float", "bfloat")):
        raise TaskError(f"task {task!r}: a case asks for dtype {dtype!r}; only floating-point names can be asked for")
    drawn.args = [map_leaves(_caster(dtype, task), a) for a in drawn.args]
    if drawn.model is not None:
        torch = sys.modules["torch"]
        drawn.model = drawn.model.to(getattr(torch, dtype))


def _caster(dtype: str, task: str) -> Callable[[Any], Any]:
    def cast(array: Any) -> Any:
        if not dtype_name(array).startswith(("float", "bfloat")):
            return array
        torch = sys.modules.get("torch")
        try:
            if torch is not None and isinstance(array, torch.Tensor):
                return array.to(getattr(torch, dtype))
            from kengine.judge.leaves import numpy_dtype

            return array.astype(numpy_dtype(dtype))
        except (AttributeError, TypeError) as error:
            raise TaskError(f"task {task!r}: a case asks for dtype {dtype!r}, which does not exist here") from error

    return cast
