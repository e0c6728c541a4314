"""Functions of the facade that are numpy's own, over arrays of the facade."""

from __future__ import annotations

from typing import Any

import numpy as np

from kengine.native.cupy.arrays import ndarray, poison, wrap
from kengine.native.cupy.record import bare, note

_TYPES = (
    "bool_", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
    "complex64", "complex128", "intp", "dtype", "finfo", "iinfo", "newaxis", "inf", "nan", "pi", "e", "integer",
    "floating", "generic", "number", "result_type", "promote_types", "can_cast", "isscalar", "index_exp", "s_",
    "issubdtype", "broadcast_shapes",
)  # fmt: skip
FUNCTIONS = (
    "zeros", "ones", "full", "zeros_like", "ones_like", "full_like", "arange", "linspace", "eye", "identity",
    "ascontiguousarray", "asfortranarray", "copy", "concatenate", "stack", "vstack", "hstack", "split", "tile",
    "repeat", "reshape", "ravel", "transpose", "swapaxes", "moveaxis", "expand_dims", "squeeze", "broadcast_to",
    "flip", "roll", "pad", "where", "clip", "take", "meshgrid", "nonzero", "sort", "argsort", "unique", "diff",
    "add", "subtract", "multiply", "divide", "true_divide", "floor_divide", "power", "remainder", "negative",
    "positive", "absolute", "abs", "sign", "sqrt", "square", "cbrt", "reciprocal", "exp", "exp2", "expm1", "log",
    "log2", "log10", "log1p", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "arctan2", "sinh", "cosh", "tanh",
    "maximum", "minimum", "fmax", "fmin", "floor", "ceil", "rint", "trunc", "isnan", "isinf", "isfinite", "equal",
    "not_equal", "less", "less_equal", "greater", "greater_equal", "logical_and", "logical_or", "logical_not",
    "bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift", "sum", "prod", "mean", "std", "var",
    "max", "min", "amax", "amin", "argmax", "argmin", "any", "all", "cumsum", "cumprod", "count_nonzero", "dot",
    "matmul", "tensordot", "einsum", "outer", "inner", "vdot", "allclose", "array_equal", "isclose", "nan_to_num",
    "triu", "tril", "diag", "trace", "searchsorted", "bincount", "histogram", "atleast_1d", "atleast_2d", "size",
    "shape", "ndim",
)  # fmt: skip


def _wrapped(name: str) -> Any:
    inner = getattr(np, name)

    def function(*args: Any, **kwargs: Any) -> Any:
        made = wrap(inner(*bare(args), **bare(kwargs)))
        out = kwargs.get("out")
        note(name, (args, kwargs), made, out)
        return made if out is None else out

    function.__name__ = name
    return function


def empty(shape: Any, dtype: Any = float, order: str = "C") -> Any:
    """Memory that holds anything."""
    return poison(np.empty(shape, dtype, order)).view(ndarray)  # type: ignore[call-overload]


def empty_like(prototype: Any, dtype: Any = None, order: str = "K", subok: Any = None, shape: Any = None) -> Any:
    """Memory of the shape of another array that holds anything."""
    like = np.empty_like(np.asarray(prototype), dtype, order, False, shape)  # type: ignore[call-overload]
    return poison(like).view(ndarray)


def get_array_module(*_: Any) -> Any:
    """The facade itself."""
    import sys

    return sys.modules["cupy"]


class _Pool:
    """A memory pool that holds nothing back."""

    def free_all_blocks(self, stream: Any = None) -> None:
        """There are none."""

    def used_bytes(self) -> int:
        """Nothing."""
        return 0

    def total_bytes(self) -> int:
        """Nothing."""
        return 0

    def malloc(self, size: int) -> Any:
        """New memory."""
        return empty(int(size), np.uint8).data


def names() -> dict[str, Any]:
    """What the module `cupy` gets from here."""
    found = {name: getattr(np, name) for name in _TYPES}
    found |= {name: _wrapped(name) for name in FUNCTIONS}
    pool = _Pool()
    return {
        **found, "bool": np.bool_, "int_": np.int64, "float_": np.float64, "empty": empty, "empty_like": empty_like,
        "get_array_module": get_array_module, "get_default_memory_pool": lambda: pool,
        "get_default_pinned_memory_pool": lambda: pool, "__version__": "14.0.0",
    }  # fmt: skip
