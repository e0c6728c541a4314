"""What a function refers to outside of itself: globals, cells of its closure, and what it takes of modules."""

from __future__ import annotations

import dis
from collections.abc import Callable, Iterator
from functools import lru_cache
from types import CellType, CodeType, ModuleType
from typing import Any


def content(cell: CellType) -> Any:
    """What a closure holds in a cell; None for one that is empty."""
    try:
        return cell.cell_contents
    except ValueError:
        return None


def find_globals(fn: Callable[..., Any]) -> Iterator[tuple[str, Any]]:
    """Global names of a function with their values, and what it takes of modules, by its dotted name."""
    code = getattr(fn, "__code__", None)
    if code is None:
        return
    for name, cell in zip(code.co_freevars, fn.__closure__ or ()):
        yield name, content(cell)
    space = fn.__globals__
    for path in _paths(code):
        if path[0] not in space:
            continue
        value = space[path[0]]
        yield path[0], value
        for depth, part in enumerate(path[1:], 2):
            found, of_triton = _member(value, part)
            if found is value:
                break
            value = found
            # The language has so many names that only what can differ between two processes is of interest.
            if not of_triton or type(value) in (bool, int, float, str, type(None)):
                yield ".".join(path[:depth]), value


def _member(value: Any, name: str) -> tuple[Any, bool]:
    """What a module, or a group of Triton's settings, has by a name, and whether it is Triton's; else the value."""
    if type(value) is ModuleType and name in vars(value):
        return vars(value)[name], value.__name__.split(".")[0] == "triton"
    if type(value).__module__ == "triton.knobs":
        return getattr(value, name, value), True
    return value, False


@lru_cache(maxsize=4096)
def _paths(code: CodeType) -> tuple[tuple[str, ...], ...]:
    """Global names that code loads, each with the attributes that are taken of it at once."""
    found: list[tuple[str, ...]] = []
    last: list[str] = []
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            last = [str(step.argval)]
            found.append(tuple(last))
        elif step.opname in ("LOAD_ATTR", "LOAD_METHOD") and last:
            last.append(str(step.argval))
            found[-1] = tuple(last)
        elif step.opname not in ("CACHE", "EXTENDED_ARG"):
            last = []
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            found += _paths(inner)
    return tuple(dict.fromkeys(found))
