"""Arrays on their way in and out: the task's memory as JAX sees it, JAX's results as the task's framework has them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from importlib import import_module
from typing import Any

import jax
import numpy as np
from kengine.array import Array
from kengine.plugins import Inputs

_WIDE = ("int64", "uint64", "float64", "complex128")


def to_jax(array: Array) -> jax.Array:
    """The same memory as a JAX array where JAX can share it, else a copy."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of 64 bits that become 32: compile.py has seen to it
        return jax.device_put(array.as_numpy(), may_alias=True)


def from_jax(value: Any, as_torch: bool) -> Any:
    """Replace every JAX array in a result by one of numpy or torch; containers and everything else stay."""
    if isinstance(value, jax.Array):
        if as_torch:
            torch = import_module("torch")
            return torch.from_dlpack(value) if value.size else torch.from_numpy(np.array(value))
        return np.asarray(value)
    if type(value) is dict:
        return {key: from_jax(item, as_torch) for key, item in value.items()}
    if type(value) in (list, tuple):
        return type(value)(from_jax(item, as_torch) for item in value)
    return value


def made_with_torch(inputs: Inputs) -> bool:
    """Whether the task made its inputs with torch: then it wants tensors back."""
    return any(array.from_torch for array in _arrays(inputs.args))


def are_wide(samples: Iterable[Inputs]) -> bool:
    """Whether any input has 64-bit elements, which JAX knows only when it is told before."""
    return any(array.spec.dtype in _WIDE for inputs in samples for array in _arrays(inputs.args))


def _arrays(value: Any) -> list[Array]:
    if isinstance(value, Array):
        return [value]
    if isinstance(value, dict):
        value = tuple(value.values())
    return [array for item in value for array in _arrays(item)] if isinstance(value, (list, tuple)) else []
