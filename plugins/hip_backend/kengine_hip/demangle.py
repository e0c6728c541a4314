"""Kernels' names as they are written: `scale<float>` for `_Z5scaleIfEvPKT_PS0_i`."""

from __future__ import annotations

import ctypes
import functools
import re


def demangle(symbol: str) -> str:
    """The name with its template arguments, without result type and parameters; what is not mangled stays."""
    if not symbol.startswith("_Z"):
        return symbol
    full = _demangled(symbol)
    if not full:
        plain = re.match(r"_Z(?:L)?(\d+)", symbol)
        return symbol[plain.end() : plain.end() + int(plain.group(1))] if plain else symbol
    return _without_signature(full)


def _without_signature(text: str) -> str:
    """Cut the parameters, and the result type in front of a template's name."""
    depth, end = 0, len(text)
    for i, c in enumerate(text):
        if c in "<([":
            if c == "(" and not depth and not text.startswith("(anonymous namespace)", i):
                end = i
                break
            depth += 1
        elif c in ">)]":
            depth -= 1
    head = text[:end].replace("(anonymous namespace)::", "")
    depth, start = 0, 0
    for i, c in enumerate(head):
        depth += (c in "<([") - (c in ">)]")
        if c == " " and not depth:
            start = i + 1
    return head[start:]


@functools.lru_cache(maxsize=256)
def _demangled(symbol: str) -> str:
    function, free = _library()
    if function is None or free is None:
        return ""
    status = ctypes.c_int()
    address = function(symbol.encode(), None, None, ctypes.byref(status))
    if not address:
        return ""
    text = ctypes.string_at(address).decode(errors="replace")
    free(address)
    return text


@functools.lru_cache(maxsize=1)
def _library() -> tuple[ctypes._NamedFuncPointer | None, ctypes._NamedFuncPointer | None]:
    """The demangler of the C++ library's ABI part, where one is installed."""
    for name in ("libstdc++.so.6", "libc++abi.so.1"):
        try:
            function = ctypes.CDLL(name).__cxa_demangle
            free = ctypes.CDLL(None).free
        except (OSError, AttributeError):
            continue
        function.restype = ctypes.c_void_p
        function.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
        free.argtypes = [ctypes.c_void_p]
        return function, free
    return None, None
