"""Classes of what a kernel comes upon: Triton's own, and those whose operators would run Python of the host."""

from __future__ import annotations

import os
import sys
from functools import lru_cache
from types import FunctionType
from typing import Any

_KNOWN = frozenset(("builtins", "triton", "kengine_triton", "numpy", "torch", "types", "functools", "enum", "typing"))
_HARMLESS = frozenset(
    ("__init__", "__post_init__", "__init_subclass__", "__repr__", "__str__", "__hash__", "__eq__", "__ne__",
     "__bool__", "__len__")
)  # fmt: skip
"""Special methods that get no value of a kernel's, or are called here as what a compiler computes."""


@lru_cache(maxsize=4096)
def is_triton_class(kind: type) -> bool:
    """Whether a class is found where it says that it is, in a module of Triton or of its mends."""
    module = sys.modules.get(kind.__module__)
    if module is None or kind.__module__.split(".")[0] not in ("triton", "kengine_triton"):
        return False
    found: Any = module
    for part in kind.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is kind


@lru_cache(maxsize=4096)
def has_operators(kind: type) -> bool:
    """Whether an expression with such an object runs code that neither Python nor Triton brings."""
    if kind.__module__.split(".")[0] in ("numpy", "torch", "ctypes", "_ctypes", "cupy"):
        return kind.__name__ not in ("dtype", "device") and not _is_number(kind)
    for each in kind.__mro__:
        if each.__module__ in ("builtins", "enum", "typing") or is_triton_class(each):
            continue
        for name, value in vars(each).items():
            function = value.fget if isinstance(value, property) else value
            special = isinstance(value, property) or (name.startswith("__") and name not in _HARMLESS)
            if special and isinstance(function, FunctionType) and not _is_generated(function):
                return True
    return False


@lru_cache(maxsize=4096)
def computes(kind: type) -> bool:
    """Whether a class of somebody's own, or of arrays, has operators that could take a kernel's values."""
    top = kind.__module__.split(".")[0]
    if top in ("numpy", "torch", "triton", "kengine_triton", "builtins"):
        return kind.__name__ == "ndarray"
    for each in kind.__mro__:
        if each.__module__ not in ("builtins", "enum", "typing") and not is_triton_class(each):
            special = [v for n, v in vars(each).items() if n.startswith("__") and n not in _HARMLESS]
            if any(isinstance(v, FunctionType) and not _is_generated(v) for v in special):
                return True
    return False


def is_own(value: Any) -> bool:
    """Whether a value is an object of a class of the candidate's, as configurations are."""
    return type(value).__module__.split(".")[0] not in _KNOWN and not isinstance(value, type)


def plain(value: Any) -> Any:
    """What is in a constant of Triton's; other values as they are."""
    return value.value if type(value).__name__ == "constexpr" and is_triton_class(type(value)) else value


def _is_number(kind: type) -> bool:
    import numpy as np

    return issubclass(kind, (np.generic, np.dtype))


def _is_generated(function: FunctionType) -> bool:
    """Whether the standard library made a function: of a namedtuple or a dataclass."""
    if function.__code__.co_filename.startswith(os.path.dirname(os.__file__) + os.sep):
        return True
    return function.__code__.co_filename == "<string>" and function.__globals__.get("__name__") != "__main__"
