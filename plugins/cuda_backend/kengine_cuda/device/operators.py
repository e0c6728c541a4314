"""CuPy's own operators in a followed call: `cupy::NAME` with the memory that was read and written."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

from kengine.native.cupy.functions import FUNCTIONS
from kengine.native.cupy.record import CONTRACTIONS, flops
from kengine.runner import watch

_METHODS = (
    "dot", "sum", "mean", "prod", "max", "min", "std", "var", "any", "all", "argmax", "argmin", "argsort", "sort",
    "cumsum", "cumprod", "clip", "round", "trace", "take", "astype", "copy", "flatten", "ravel", "reshape", "fill",
    "__getitem__", "__setitem__", "__neg__", "__abs__", "__invert__",
)  # fmt: skip
_BINARY = ("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor", "lshift", "rshift")
_COMPARISONS = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__")
_NAMES = {
    "sub": "subtract", "mul": "multiply", "truediv": "divide", "floordiv": "floor_divide", "mod": "remainder",
    "pow": "power", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor", "lshift": "left_shift",
    "rshift": "right_shift", "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater",
    "ge": "greater_equal", "neg": "negative", "invert": "bitwise_not", "getitem": "take", "setitem": "copyto",
    "abs": "absolute",
}  # fmt: skip


def install() -> None:
    """Have CuPy's functions and its arrays' operators tell, in followed calls, what they do. For good, and before there
    is a candidate: one that keeps a function of its import is told of as well."""
    cupy = sys.modules["cupy"]
    dunder = [f"__{side}{name}__" for name in _BINARY for side in ("", "r", "i")]
    wanted = [(cupy, name) for name in FUNCTIONS]
    wanted += [(cupy.ndarray, name) for name in (*_METHODS, *dunder, *_COMPARISONS)]
    for place, name in wanted:
        inner = getattr(place, name, None)
        if callable(inner) and not hasattr(inner, _MARK):
            noted = _noted(_plain(name), inner, name in ("__setitem__", "fill", "sort"))
            setattr(noted, _MARK, True)
            setattr(place, name, noted)


def places(value: Any, depth: int = 0) -> list[tuple[int, int]]:
    """Address and size of every array of CuPy in nested values."""
    if hasattr(getattr(value, "data", None), "ptr") and hasattr(value, "nbytes"):
        return [(int(value.data.ptr), int(value.nbytes))] if value.nbytes else []
    if isinstance(value, (list, tuple)) and depth < 8:
        return [place for item in value for place in places(item, depth + 1)]
    if isinstance(value, dict) and depth < 8:
        return [place for item in value.values() for place in places(item, depth + 1)]
    return []


def memory(values: Any) -> list[Any]:
    """Every array among the arguments of a kernel: tensors of torch as they are, others by address and size."""
    torch = sys.modules.get("torch")
    tensors = [value for value in values if torch is not None and isinstance(value, torch.Tensor)]
    blocks = [value for value in values if type(value) is tuple and len(value) == 2]
    return [*tensors, *blocks, *places([value for value in values if type(value) is not tuple])]


_MARK = "_kengine_noted"
_inside = False


def _noted(name: str, inner: Any, in_place: bool) -> Callable[..., Any]:
    @functools.wraps(inner, updated=())
    def call(*args: Any, **kwargs: Any) -> Any:
        global _inside
        if _inside or not watch.active():
            return inner(*args, **kwargs)
        _inside = True  # what an operator is made of is not the candidate's
        try:
            result = inner(*args, **kwargs)
        finally:
            _inside = False
        read = places([args, {key: value for key, value in kwargs.items() if key != "out"}])
        made = [place for place in places(result) if not any(_overlap(place, other) for other in read)]
        written = [*made, *places([kwargs.get("out"), args[0] if in_place or name.endswith("=") else None])]
        if written:
            bare = name.removesuffix("=")
            sizes = [int(getattr(a, "size", 0)) for a in args[:2]] if bare in CONTRACTIONS and len(args) > 1 else []
            watch.operation(f"cupy::{bare}", read, written, flops(sizes, int(getattr(result, "size", 0))))
        return result

    return call


def _plain(name: str) -> str:
    """The function behind a method with underscores; with `=` behind it for one that changes its array."""
    if not name.startswith("__"):
        return name
    bare = name.strip("_")
    in_place = bare[0] == "i" and bare[1:] in _BINARY
    bare = bare[1:] if bare not in _NAMES and bare[0] in "ri" and bare[1:] in _BINARY else bare
    return _NAMES.get(bare, bare) + ("=" if in_place else "")


def _overlap(a: tuple[int, int], b: tuple[int, int]) -> bool:
    return a[0] < b[0] + b[1] and b[0] < a[0] + a[1]
