"""Python's parser, one thread at a time."""

from __future__ import annotations

import ast
import threading
from typing import Any, Literal, overload

_TRIES = 5
_alone = threading.RLock()


@overload
def parse_tree(text: str, mode: Literal["exec"] = "exec", filename: str = ...) -> ast.Module: ...
@overload
def parse_tree(text: str, mode: Literal["eval"], filename: str = ...) -> ast.Expression: ...
def parse_tree(text: str, mode: str = "exec", filename: str = "<unknown>") -> Any:
    """As `ast.parse`, for engines that read candidates in several threads. Raises what it raises.

    CPython to 3.11.7 counts how deep it is in one tree for all threads of a process, and ends in SystemError where
    another thread, or a finaliser that the collector of garbage calls meanwhile, began a tree of its own.
    """
    for left in reversed(range(_TRIES)):
        try:
            with _alone:
                return ast.parse(text, filename, mode=mode)
        except SystemError:  # code that is not kengine's parsed meanwhile
            if not left:
                raise
    raise AssertionError("unreachable")
