"""Scalar registers and the loops that run on the device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..access import assign, raw
from ..errors import NkiError, RunFault
from ..program import current
from ..tensor import NkiTensor
from ..views import scalar_index


class VirtualRegister:
    """A 32-bit scalar register; arithmetic on it gives Python ints."""

    __slots__ = ("value",)

    def __init__(self, value: int | None = None) -> None:
        self.value = value

    def __index__(self) -> int:
        if self.value is None:
            raise RunFault("read of a register that was never set")
        return int(self.value)

    __int__ = __index__

    def __bool__(self) -> bool:
        return self.__index__() != 0

    def __float__(self) -> float:
        return float(self.__index__())

    def __add__(self, other: Any) -> int:
        return self.__index__() + int(other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> int:
        return self.__index__() - int(other)

    def __rsub__(self, other: Any) -> int:
        return int(other) - self.__index__()

    def __mul__(self, other: Any) -> int:
        return self.__index__() * int(other)

    __rmul__ = __mul__

    def __floordiv__(self, other: Any) -> int:
        return self.__index__() // int(other)

    def __mod__(self, other: Any) -> int:
        return self.__index__() % int(other)

    def __neg__(self) -> int:
        return -self.__index__()

    def __repr__(self) -> str:
        return f"VirtualRegister({self.value})"


def _wrap(value: int) -> int:
    return (value + 2**31) % 2**32 - 2**31


def register_alloc(x: Any = None) -> VirtualRegister:
    """A new register, holding `x` if given."""
    current().step(("register_alloc", "sync"), 0)
    return VirtualRegister(None if x is None else _wrap(scalar_index(x)))


def _register(name: str, role: str, value: Any) -> None:
    if not isinstance(value, VirtualRegister):
        raise NkiError(f"{name} {role} must be a register, got {type(value).__name__}")


def register_move(dst: Any, src: Any) -> None:
    """dst = src, an int or a register."""
    _register("register_move", "dst", dst)
    current().step(("register_move", "sync"), 0)
    dst.value = _wrap(scalar_index(src))


def _one(name: str, role: str, value: Any) -> None:
    if not (isinstance(value, NkiTensor) and value.size == 1 and value.dtype.itemsize <= 4):
        raise NkiError(f"{name} {role} must be a tensor with one element, got {getattr(value, 'shape', value)}")


def register_load(dst: Any, src: Any) -> None:
    """dst = the one element of a tensor."""
    _register("register_load", "dst", dst)
    _one("register_load", "src", src)
    current().step(("register_load", "sync"), 0)
    element = raw(src).reshape(-1)[0]
    if src.dtype.kind == "f":
        dst.value = int(np.asarray(element, np.float32).view(np.int32))
    else:
        dst.value = _wrap(int(element))


def register_store(dst: Any, src: Any) -> None:
    """The one element of a tensor = a register."""
    _one("register_store", "dst", dst)
    current().step(("register_store", "sync"), 0)
    assign(dst, np.asarray(scalar_index(src), np.int64) if dst.dtype.is_int else np.float32(scalar_index(src)))


def fori_loop(lower: Any, upper: Any, body_fun: Callable[[Any], Any], step: int = 1) -> None:
    """Call body_fun with a register holding lower, lower + step, ... below upper."""
    if int(step) <= 0:
        raise NkiError(f"fori_loop step must be positive, got {step}")
    for i in range(scalar_index(lower), scalar_index(upper), int(step)):
        current().step(("fori_loop", "sync"), 0)
        body_fun(VirtualRegister(i))


def while_loop(init: Any, body_fun: Callable[[Any], Any]) -> None:
    """Call body_fun with the condition register, which returns the next, until it holds 0."""
    condition = init if isinstance(init, VirtualRegister) else VirtualRegister(scalar_index(init))
    while bool(condition):
        current().step(("while_loop", "sync"), 0)
        following = body_fun(condition)
        if not isinstance(following, VirtualRegister):
            raise NkiError(f"while_loop body must return the next condition register, got {type(following).__name__}")
        condition = following
