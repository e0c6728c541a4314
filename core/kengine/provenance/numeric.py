"""numpy's functions and ufuncs, seen through a subclass of its arrays that is used for one followed call only."""

from __future__ import annotations

import functools
import os
import sys
import sysconfig
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from kengine.provenance import exits
from kengine.provenance.ledger import Ledger, Piece

_ledger: Ledger | None = None
_paused = 0


_MAKERS = (
    "array", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray", "empty", "empty_like", "zeros",
    "zeros_like", "ones", "ones_like", "full", "full_like", "arange", "linspace", "frombuffer", "fromiter", "eye",
    "from_dlpack",
)  # fmt: skip
"""Functions that make arrays; while a call is followed what they make is watched from the beginning."""
_makers = {name: getattr(np, name) for name in _MAKERS}
_iterators = {name: getattr(np, name) for name in ("nditer", "ndenumerate")}


def attach(ledger: Ledger | None) -> None:
    """Write into this ledger from now on; None: into none."""
    global _ledger, _paused
    if (ledger is None) != (_ledger is None):
        for name, inner in _makers.items():
            setattr(np, name, inner if ledger is None else _watching(inner))
        for name, inner in _iterators.items():
            setattr(np, name, inner if ledger is None else _iterating(inner))
    _ledger, _paused = ledger, 0


def pause(step: int) -> None:
    """Stop (1) or go on (-1) writing; pauses nest."""
    global _paused
    _paused += step


def paused() -> int:
    """How deep pauses are nested now."""
    return _paused


class WatchedArray(np.ndarray):
    """An array whose operations are noted; what they give is watched too. Same memory, same values."""

    # Libraries that take arrays ask where their class comes from.
    __module__ = "numpy"

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        name = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
        plain = tuple(_bare(value) for value in inputs)
        outs = kwargs.pop("out", None)
        if outs is not None:
            kwargs["out"] = tuple(_bare(value) for value in outs)
        kwargs = {key: _bare(value) for key, value in kwargs.items()}
        result = getattr(ufunc, method)(*plain, **kwargs)
        note(name, (plain, kwargs.get("where")), result, ufunc is np.matmul)
        return result if method == "at" else _watched(result)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        bare_args, bare_kwargs = _bare(args), _bare(kwargs)
        result = func(*bare_args, **bare_kwargs)
        # `out` and the first argument of copyto are written: the result is then that same memory.
        name = f"{getattr(func, '__module__', '') or ''}.{func.__name__}".removeprefix("numpy.")
        target = bare_args[0] if func in (np.copyto, np.put, np.place, np.putmask) else result
        note(name, (bare_args[1:] if target is not result else bare_args, bare_kwargs), target, _contracts(func))
        return _watched(result)

    def __setitem__(self, index: Any, value: Any) -> None:
        bare = _bare(self)
        bare[_bare(index)] = _bare(value)
        if _ledger is not None and not _paused:
            # A part of it: what else it holds stays.
            part = [Piece(p.start, p.end, 0, p.owner) for p in pieces(bare)]
            _ledger.operation("numpy::copyto", list(pieces((value, index))), part)

    def dot(self, b: Any, out: Any = None) -> Any:
        """As numpy's; the method in C tells nobody."""
        return np.dot(self, b, out)

    def sort(self, *args: Any, **kwargs: Any) -> None:
        """As numpy's, in place."""
        bare = _bare(self)
        bare.sort(*args, **kwargs)
        note("sort", (bare,), bare)

    def argsort(self, *args: Any, **kwargs: Any) -> Any:
        """As numpy's."""
        return np.argsort(self, *args, **kwargs)

    def cumsum(self, *args: Any, **kwargs: Any) -> Any:
        """As numpy's."""
        return np.cumsum(self, *args, **kwargs)

    def cumprod(self, *args: Any, **kwargs: Any) -> Any:
        """As numpy's."""
        return np.cumprod(self, *args, **kwargs)

    def argmax(self, *args: Any, **kwargs: Any) -> Any:
        """As numpy's."""
        return np.argmax(self, *args, **kwargs)

    def argmin(self, *args: Any, **kwargs: Any) -> Any:
        """As numpy's."""
        return np.argmin(self, *args, **kwargs)

    def __array_finalize__(self, parent: Any) -> None:
        # A copy that a method in C made (copy, astype, take, fancy indexing) descends from its parent.
        if _ledger is not None and not _paused and isinstance(parent, np.ndarray):
            for own, theirs in zip(pieces(self), pieces(parent)):
                if own.start and _ledger.find(own.start) is None:
                    _ledger.operation("copy", [theirs], [own])


def _left(array: Any, what: str, part: bool) -> None:
    """Note that an array's data or address goes where nobody follows; part: one element of it."""
    if _ledger is not None and not _paused:
        for each in pieces(array):
            _ledger.export(Piece(each.start, each.end, array.itemsize, None) if part else each, what, part)


def _iterating(inner: Callable[..., Any]) -> Callable[..., Any]:
    """As one of numpy's iterators, which hand out the data of what they go over."""

    def iterate(op: Any, *args: Any, **kwargs: Any) -> Any:
        for array in _arrays(op):
            _left(_bare(array), "data", False)
        return inner(_bare(op), *args, **kwargs)

    return iterate


exits.guard(WatchedArray, _left, lambda value: _bare(value))


@functools.lru_cache(maxsize=4096)
def _is_library(path: str) -> bool:
    """Whether a file is an installed library's or Python's own: what these do inside is not their caller's work."""
    return path.startswith(_LIBRARIES)


_LIBRARIES = tuple({sysconfig.get_path(name) + os.sep for name in ("purelib", "platlib", "stdlib", "platstdlib")})


def _watching(inner: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(inner)
    def make(*args: Any, **kwargs: Any) -> Any:
        if _ledger is None or _paused or _is_library(sys._getframe(1).f_code.co_filename):
            return inner(*args, **kwargs)
        result = inner(*_bare(args), **_bare(kwargs))
        if type(result) is not np.ndarray:
            return result
        given, made = list(pieces((args, kwargs))), list(pieces(result))
        if made and _ledger.find(made[0].start) is None:
            _ledger.operation(f"numpy::{inner.__name__}", given, made)
            return result.view(WatchedArray)
        return watched(result) if exits.asked_by_candidate() else result.view(WatchedArray)

    return make


def watched(array: Any) -> WatchedArray:
    """The same memory as an array that tells what is done with it.

    What holds constants until then may hold anything from now on: there are ways to write to it that nobody sees.
    """
    if _ledger is not None and not _paused:
        for each in pieces(array):
            _ledger.export(each, "array")
            _ledger.expose(each)
    view: WatchedArray = array.view(WatchedArray)
    return view


def note(name: str, read: Any, result: Any, contracts: bool = False) -> None:
    """Write one operation into the ledger; `contracts`: its cost is that of its products."""
    if _ledger is None or _paused:
        return
    before, after = list(pieces(read)), list(pieces(result))
    if not after and not before:
        return
    if {p.start for p in after} and {p.start for p in after} <= {p.start for p in before} and not contracts:
        known = [_ledger.find(p.start) for p in after]
        if name not in ("copyto", "sort") and all(k is not None for k in known) and not _wrote(name):
            return  # a view
    given = after if name in _INTO else ()
    _ledger.operation(f"numpy::{name}", before, after, _flops(read, result) if contracts else 0, given=given)


_INTO = ("copyto", "put", "place", "putmask", "sort")
"""Functions that write into an array which they are given."""


def _wrote(name: str) -> bool:
    return hasattr(getattr(np, name.partition(".")[0], None), "nin")


def _contracts(func: Any) -> bool:
    return func.__name__ in ("dot", "matmul", "tensordot", "einsum", "inner", "vdot", "outer", "convolve", "correlate")


def _flops(read: Any, result: Any) -> int:
    """Twice the products of a contraction: every element of the result sums over the axis that the operands share."""
    arrays = list(_arrays(read))
    out = next(iter(_arrays(result)), None)
    if len(arrays) < 2:
        return 0
    a, b = arrays[0], arrays[1]
    size = int(out.size) if out is not None else 1
    return int(2 * max(a.size * b.size // max(size, 1), 1) ** 0.5 * size) if size else 0


def _watched(value: Any) -> Any:
    if type(value) is np.ndarray:
        return value.view(WatchedArray)
    if type(value) is tuple:
        return tuple(_watched(item) for item in value)
    if type(value) is list:
        return [_watched(item) for item in value]
    return value


def _bare(value: Any) -> Any:
    if isinstance(value, WatchedArray):
        return np.ndarray.view(value, np.ndarray)
    if type(value) in (list, tuple):
        return type(value)(_bare(item) for item in value)
    if type(value) is dict:
        return {key: _bare(item) for key, item in value.items()}
    return value


def _arrays(value: Any) -> Iterator[Any]:
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _arrays(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _arrays(item)


# numpy 2 has moved it.
_byte_bounds: Any = getattr(getattr(np.lib, "array_utils", np), "byte_bounds")  # noqa: B009


# Of numpy's own making: what a watched array says of its base is the array itself.
_base: Any = np.ndarray.base.__get__


def pieces(value: Any) -> Iterator[Piece]:
    """Where the arrays in a value lie: the whole block that each is a view of."""
    for array in _arrays(value):
        if array.nbytes == 0:
            continue
        root = array
        while isinstance(base := _base(root), np.ndarray):
            root = base
        low, high = _byte_bounds(_bare(root))  # asks for an attribute that a watched array notes
        yield Piece(int(low), int(high), int(array.nbytes), root)
