"""Classes of what a kernel comes upon: Triton's own, and those whose operators would run Python of the host."""

from __future__ import annotations

import abc
import builtins
import ctypes
import enum
import functools
import sys
import types
from functools import lru_cache
from typing import Any

_ORDINARY = frozenset(
    value
    for module in (builtins, types, enum, abc)
    for value in vars(module).values()
    if isinstance(value, type) and value is not types.SimpleNamespace
) | {functools.partial}
"""Classes of Python's own, as they were before there was a candidate: a name can be taken by any class."""
_OPERATORS = frozenset(
    [f"__{side}{name}__" for side in ("", "r", "i") for name in (
        "add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "divmod", "pow", "lshift", "rshift", "and", "xor",
        "or",
    )]
    + [f"__{name}__" for name in (
        "lt", "le", "gt", "ge", "neg", "pos", "abs", "invert", "int", "float", "complex", "index", "round", "trunc",
        "floor", "ceil", "getitem", "setitem", "iter", "next", "reversed", "contains", "call", "getattr",
        "getattribute", "array", "array_interface", "array_ufunc", "array_function", "torch_function", "instancecheck",
    )]
)  # fmt: skip
"""Special methods to which Python hands the other side of an operator, or that stand for a number or a row of them.

What `==`, `bool`, `len` and the text of an object are is computed here as a compiler does, whoever wrote them.
"""
_NUMBERS: tuple[type, ...] = (int, float)


@lru_cache(maxsize=1)
def _at_start() -> frozenset[type]:
    """Classes of Triton's, and of its mends, that are loaded; first asked for before there is a candidate."""
    return frozenset(
        value
        for name, module in list(sys.modules.items())
        if name.split(".")[0] in ("triton", "kengine_triton") and type(module) is types.ModuleType
        for value in list(vars(module).values())
        if isinstance(value, type) and value.__module__.split(".")[0] in ("triton", "kengine_triton")
    )


def remember() -> None:
    """Take down which classes are Triton's own."""
    _at_start()


@lru_cache(maxsize=4096)
def is_triton_class(kind: type) -> bool:
    """Whether a class is found where it says that it is, in a module of Triton or of its mends."""
    if kind in _at_start():
        return True
    module = sys.modules.get(kind.__module__)
    if module is None or kind.__module__.split(".")[0] not in ("triton", "kengine_triton"):
        return False
    outer = kind.__qualname__.rpartition(".")[0]
    if not outer and any(each.__module__ == kind.__module__ for each in _at_start()):
        return False  # of a module that was here at the start, and it was not in it
    found: Any = module
    for part in kind.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is kind


@lru_cache(maxsize=4096)
def is_array(kind: type) -> bool:
    """Whether objects of a class are data of the host: arrays, tensors of the framework, memory of ctypes."""
    import numpy as np
    import torch

    if issubclass(
        kind, (torch.Tensor, np.ndarray, ctypes._SimpleCData, ctypes.Array, ctypes.Structure, ctypes._Pointer)
    ):
        return True
    top = kind.__module__.split(".")[0]
    return top in ("numpy", "torch", "ctypes", "_ctypes", "cupy") and not _is_named(kind) and _has_operators(kind)


@lru_cache(maxsize=4096)
def computes(kind: type) -> bool:
    """Whether an operator with such an object may run code that neither Python nor Triton brings."""
    return not is_known(kind) and _has_operators(kind)


def is_own(value: Any) -> bool:
    """Whether a value is an object of a class of the candidate's, or a class of such a class."""
    return not is_known(type(value))


def is_known(kind: type) -> bool:
    """Whether a class is Python's, Triton's, or stands for numbers and types of numpy's and PyTorch's."""
    return kind in _ORDINARY or is_triton_class(kind) or _is_named(kind)


def plain(value: Any) -> Any:
    """What is in a constant of Triton's; other values as they are."""
    return value.value if type(value).__name__ == "constexpr" and is_triton_class(type(value)) else value


def simple(value: Any) -> Any:
    """A number or a tuple of a class of the candidate's as the compiler takes it beside a block."""
    kind = type(value)
    if not computes(kind):
        return value
    for base in _NUMBERS:
        if issubclass(kind, base):
            return base.__int__(value) if base is int else base.__float__(value)
    return tuple.__getitem__(value, slice(None)) if issubclass(kind, tuple) else value


@lru_cache(maxsize=4096)
def _has_operators(kind: type) -> bool:
    return any(
        not _OPERATORS.isdisjoint(vars(each))
        for each in kind.__mro__
        if each not in _ORDINARY and not is_triton_class(each)
    )


@lru_cache(maxsize=4096)
def _is_named(kind: type) -> bool:
    """Whether a class is one of numpy's numbers or of what stands for types: no data, and no code of a candidate's."""
    import numpy as np
    import torch

    known = (torch.dtype, torch.device, torch.Size, torch.finfo, torch.iinfo, np.finfo, np.iinfo)
    return kind in known or kind in np.sctypeDict.values() or issubclass(kind, np.dtype)
