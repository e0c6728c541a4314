"""Torch's operators that promise no order of equal elements, made to give one or the other, as another kernel might.

Of equal keys the first come first (`last` false) or the last do; an order that is promised (`stable=True`, argmax) is
left alone, and so are values, which are the same either way.
"""

from __future__ import annotations

from typing import Any

import torch

from kengine.provenance.modes import DispatchMode


class Reordering(DispatchMode):
    """Within it torch's sort, topk, kthvalue, median and mode name other places among equal elements.

    changed: gets the names of operators whose result then was another one than their own.
    """

    def __init__(self, last: bool, changed: set[str]) -> None:
        super().__init__()
        self._changed = changed
        self._last = last

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        name = func._schema.name.partition("::")[2]
        named = {a.name: v for a, v in zip(func._schema.arguments, args)} | kwargs
        if name not in _PLACES or func._schema.is_mutable or not isinstance(result, (tuple, list)):
            return result
        own = {a.name: a.default_value for a in func._schema.arguments if a.has_default_value()} | named
        keys = own["self"]
        if own.get("stable") or keys.dim() == 0 or keys.numel() == 0:
            return result
        values, places = result
        other = _PLACES[name](keys, own, values, self._last)
        if torch.equal(other, places):
            return result
        self._changed.add(f"torch.{name}")
        return keys.gather(own["dim"], other) if name in ("sort", "topk") else values, other


def _sorted(keys: Any, own: dict[str, Any], values: Any, last: bool) -> Any:
    return _order(keys, own["dim"], bool(own["descending"]), last)


def _topmost(keys: Any, own: dict[str, Any], values: Any, last: bool) -> Any:
    found = _order(keys, own["dim"], bool(own["largest"]), last).narrow(own["dim"], 0, own["k"])
    return found if own["sorted"] or not last else found.flip(own["dim"])


def _where(keys: Any, own: dict[str, Any], values: Any, last: bool) -> Any:
    dim = own["dim"]
    wanted = values if own["keepdim"] else values.unsqueeze(dim)
    equal = ((keys == wanted) | ((keys != keys) & (wanted != wanted))).to(torch.uint8)
    place = keys.shape[dim] - 1 - equal.flip(dim).argmax(dim, True) if last else equal.argmax(dim, True)
    return place if own["keepdim"] else place.squeeze(dim)


def _order(keys: Any, dim: int, descending: bool, last: bool) -> Any:
    if not last:
        return torch.sort(keys, dim=dim, descending=descending, stable=True)[1]
    return keys.shape[dim] - 1 - torch.sort(keys.flip(dim), dim=dim, descending=descending, stable=True)[1]


_PLACES = {"sort": _sorted, "topk": _topmost, "kthvalue": _where, "median": _where, "nanmedian": _where, "mode": _where}
