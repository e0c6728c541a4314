"""Ways by which the data of a watched numpy array leaves numpy, for code that nobody follows."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from kengine.provenance import callers

Note = Callable[[Any, str, bool], None]
"""Notes an array whose `data` or `address` was handed out; True: a part of it only."""

carriers = {"kengine"}
"""Packages that pass memory on to a kernel and say so themselves; plugins' own begin with `kengine_`."""
_METHODS = ("tolist", "tobytes", "tostring", "tofile", "dump", "dumps", "__reduce__", "__reduce_ex__",
            "__float__", "__int__", "__index__", "__complex__", "__format__", "__str__", "__repr__")  # fmt: skip
_ATTRIBUTES = {"flat": "data", "data": "data", "base": "data", "ctypes": "address", "__array_interface__": "address",
               "__array_struct__": "address"}  # fmt: skip


def guard(kind: type, note: Note, bare: Callable[[Any], Any]) -> None:
    """Give a subclass of `numpy.ndarray` methods and attributes that note what the candidate takes through them."""
    for name in _METHODS:
        if hasattr(np.ndarray, name):
            setattr(kind, name, _method(name, note, bare))
    for name, what in _ATTRIBUTES.items():
        setattr(kind, name, _attribute(name, what, note, bare))
    for name in ("__getitem__", "item", "view"):
        setattr(kind, name, _element(name, kind, note, bare))
    # memoryview, bytes, struct and all other users of buffers
    if hasattr(np.ndarray, "__buffer__"):  # Python 3.12
        setattr(kind, "__buffer__", _method("__buffer__", note, bare))  # noqa: B010
    else:
        _guard_buffer(kind, note, bare)


def asked_by_candidate() -> bool:
    """Whether the code that called what called this is not that of a library which hands memory to kernels."""
    frame = sys._getframe(2)
    root = str(frame.f_globals.get("__name__", "")).partition(".")[0]
    return not callers.is_library(frame, {*carriers, root} if root.startswith("kengine_") else carriers)


def _method(name: str, note: Note, bare: Callable[[Any], Any]) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        if asked_by_candidate():
            note(bare(self), "data", False)
        return getattr(bare(self), name)(*args, **kwargs)

    method.__name__ = name
    return method


def _attribute(name: str, what: str, note: Note, bare: Callable[[Any], Any]) -> property:
    def read(self: Any) -> Any:
        if asked_by_candidate():
            note(bare(self), what, False)
        # A bare view's base is the array that it was made of, for ever.
        return np.ndarray.base.__get__(self) if name == "base" else getattr(bare(self), name)

    def write(self: Any, value: Any) -> None:
        setattr(bare(self), name, value)

    return property(read, write)


_AS_BUFFER = 20 * ctypes.sizeof(ctypes.c_void_p)
"""Where a type object holds the address of its buffer functions, in CPython 3.10 and 3.11."""
_GetBuffer = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_void_p, ctypes.c_int)
_kept: list[Any] = []
"""Callbacks that types hold by address."""


def _guard_buffer(kind: type, note: Note, bare: Callable[[Any], Any]) -> None:
    """The same for buffers where Python code has no say in them: in the type's own table of C functions."""
    own, inherited = _buffer_functions(kind), _buffer_functions(np.ndarray)
    if own is None or inherited is None or not own[0] or own[0] != inherited[0]:
        return
    inner = _GetBuffer(own[0])

    def get(self: Any, view: int, flags: int) -> int:
        try:
            if asked_by_candidate():
                note(bare(self), "data", False)
            return int(inner(self, view, flags))
        except Exception:  # a callback cannot raise; whoever asked gets a SystemError
            return -1

    _kept.append(_GetBuffer(get))
    own[0] = ctypes.cast(_kept[-1], ctypes.c_void_p).value or own[0]


def _buffer_functions(kind: type) -> Any:
    """The two functions of a type's table, as a view of that table; None where it has none."""
    table = ctypes.c_void_p.from_address(id(kind) + _AS_BUFFER).value
    return (ctypes.c_void_p * 2).from_address(table) if table else None


def _element(name: str, kind: type, note: Note, bare: Callable[[Any], Any]) -> Callable[..., Any]:
    inner = getattr(np.ndarray, name)

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        value = inner(self, *(bare(each) for each in args), **kwargs)
        if not isinstance(value, kind) and asked_by_candidate():
            note(bare(self), "data", not isinstance(value, np.ndarray))  # one number, or all without the watching
        return value

    method.__name__ = name
    return method
