"""Inputs of a call, as a runner gets them."""

from __future__ import annotations

from typing import Any

from kengine.array import Array
from kengine.model import TensorSpec
from kengine.plugins.hooks import Inputs


def as_array(tensor: Any) -> Array:
    """A contiguous torch tensor as it crosses to a runner: a copy of its bytes."""
    import torch

    memory = memoryview(bytearray(tensor.contiguous().view(torch.uint8).numpy().tobytes()))
    return Array(TensorSpec(str(tensor.dtype).removeprefix("torch."), tuple(tensor.shape)), memory)


def make_inputs(*args: Any, outputs: tuple[Any, ...] = ()) -> Inputs:
    """Inputs of a call: tensors become arrays, other values stay."""
    made = tuple(as_array(a) if hasattr(a, "element_size") else a for a in args)
    return Inputs(made, destination=tuple(as_array(o) for o in outputs))
