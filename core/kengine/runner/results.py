"""What a call gave, described as trees of exact types, and its bytes copied into the judge's sinks.

Methods are taken from the classes before any candidate is loaded, and never looked up on the object: an object that
answers for itself says nothing here.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from math import isfinite, prod
from typing import Any

from kengine.array import ITEMSIZE
from kengine.model import CaseView
from kengine.plugins.hooks import Inputs
from kengine.runner.arena import Bundle, Region, arrays
from kengine.runner.tensors import Seen, see

MAX_DEPTH = 12
MAX_NODES = 8000
_MAX_TEXT = 1 << 16


def collect(value: Any, bundle: Bundle, case: CaseView) -> list[dict[str, Any]]:
    """Describe the returned value and then each written input, and copy all arrays into the bundle's sinks."""
    writer = _Writer(bundle.sinks, bundle.regions)
    trees = [writer.tree(value, 0)]
    trees += [writer.tree(written(bundle.inputs, index), 0) for index in case.writes]
    return trees


def written(inputs: Inputs, index: int) -> Any:
    """A written input as it lies in borrowed memory now, whatever the candidate made of its own argument."""
    for array in arrays(inputs.args[index]):
        return array.as_torch() if "torch" in sys.modules else array.as_numpy()
    return inputs.args[index]


class _Writer:
    def __init__(self, sinks: Sequence[Any], regions: Sequence[Region]) -> None:
        self.sinks = sinks
        self.regions = regions
        self.nodes = 0
        self.position = 0

    def tree(self, value: Any, depth: int) -> dict[str, Any]:
        self.nodes += 1
        kind = type(value)
        if value is None or kind is bool or (kind is int and value.bit_length() <= 64):
            return {"k": "value", "v": value}
        if kind is str and len(value) <= _MAX_TEXT:
            return {"k": "value", "v": value.encode("utf-8", "replace").decode()}
        if kind is float:
            return {"k": "value", "v": value} if isfinite(value) else {"k": "float", "v": str(value)}
        if kind is complex and isfinite(value.real) and isfinite(value.imag):
            return {"k": "complex", "v": [value.real, value.imag]}
        if kind in (list, tuple, dict) or _is_struct(kind):
            if depth >= MAX_DEPTH or self.nodes + len(value) > MAX_NODES:
                return {"k": "other", "type": f"{kind.__name__} nested too deeply or too long"}
            return self._container(value, kind, depth)
        torch = sys.modules.get("torch")
        if torch is not None and kind is torch.dtype:
            return {"k": "dtype", "v": str(value).removeprefix("torch.")}
        seen = see(value)
        return self._array(seen) if isinstance(seen, Seen) else {"k": "other", "type": seen}

    def _container(self, value: Any, kind: type, depth: int) -> dict[str, Any]:
        if kind is dict:
            if not all(type(key) is str for key in value):
                return {"k": "other", "type": "dict with keys that are not strings"}
            return {"k": "dict", "items": {k: self.tree(v, depth + 1) for k, v in value.items()}}
        items = [self.tree(v, depth + 1) for v in (list.__iter__(value) if kind is list else tuple.__iter__(value))]
        return {"k": "list" if kind is list else "tuple", "items": items}

    def _array(self, seen: Seen) -> dict[str, Any]:
        position = self.position
        self.position += 1
        spec = {"dtype": seen.dtype, "shape": list(seen.shape), "strides": list(seen.strides)}
        alias = next((r.label for r in self.regions if r.start <= seen.address < r.end), "")
        nbytes = prod(seen.shape) * ITEMSIZE.get(seen.dtype, 0)
        fits = position < len(self.sinks) and seen.dtype in ITEMSIZE and nbytes <= _length(self.sinks[position])
        if fits and nbytes:
            seen.copy(self.sinks[position], nbytes)
        return {
            "k": "array",
            "spec": spec,
            "type": seen.type,
            "device": seen.device,
            "alias": alias,
            "sink": position if fits else None,
        }


def _length(sink: Any) -> int:
    return len(sink) if isinstance(sink, memoryview) else int(sink.numel())


def _is_struct(kind: type) -> bool:
    """Whether this is a named tuple of torch's own, as `torch.max(x, 0)` returns."""
    torch = sys.modules.get("torch")
    return torch is not None and kind.__mro__[1:2] == (tuple,) and vars(torch.return_types).get(kind.__name__) is kind
