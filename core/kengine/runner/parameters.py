"""The reference's parameters put into a candidate's module, so that both compute with the same weights."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

from kengine.array import Array
from kengine.errors import CandidateFault
from kengine.plugins.hooks import Inputs


def load_parameters(model: Any, state: Mapping[str, Any], inputs: Inputs, convert: Callable[[Array], Any]) -> Any:
    """Move a constructed module to the inputs' device and copy the parameters in; returns the module.

    By name where every name of the reference is there with its shape; else in order, when shapes and dtypes are the
    same one by one. Raises CandidateFault (launch_failed) that lists both sides otherwise. What is not a torch module
    passes untouched when there is nothing to load.
    """
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(model, torch.nn.Module):
        if state:
            raise CandidateFault(
                "launch_failed", f"the candidate is a {type(model).__name__}, not a torch.nn.Module; it cannot be "
                f"given the reference's parameters: {_listed(state)}"
            )  # fmt: skip
        return model
    device = _device(state, inputs, convert)
    if device is not None:
        model = model.to(device)
    floats = {t.dtype for t in state.values() if t.is_floating_point()}
    if len(floats) == 1:
        model = model.to(floats.pop())
    pairs = _match(model, state)
    with torch.no_grad():
        for target, source in pairs:
            target.data.copy_(source)
    return model


def _match(model: Any, state: Mapping[str, Any]) -> list[tuple[Any, Any]]:
    parameters = dict(model.named_parameters())
    places = {**parameters, **dict(model.named_buffers())}
    fits = all(n in places and places[n].shape == t.shape for n, t in state.items())
    if fits and parameters.keys() <= state.keys():
        return [(places[n], t) for n, t in state.items()]
    for own in (list(parameters.values()), list(places.values())):
        if len(own) == len(state) and all(
            p.shape == t.shape and p.dtype == t.dtype for p, t in zip(own, state.values())
        ):
            return list(zip(own, state.values()))
    raise CandidateFault(
        "launch_failed",
        "the candidate's parameters cannot be matched with the reference's, neither by name nor in order: "
        f"the reference has {_listed(state)}; the candidate has {_listed(places)}",
    )


def _listed(tensors: Mapping[str, Any]) -> str:
    text = [f"{n} {str(t.dtype).removeprefix('torch.')}{list(t.shape)}" for n, t in list(tensors.items())[:30]]
    more = f", and {len(tensors) - 30} more" if len(tensors) > 30 else ""
    return ", ".join(text) + more if text else "none"


def _device(state: Mapping[str, Any], inputs: Inputs, convert: Callable[[Array], Any]) -> Any:
    for tensor in state.values():
        return tensor.device
    from kengine.runner.arena import arrays

    for array in arrays(inputs.args):
        return getattr(convert(array), "device", None)
    return None
