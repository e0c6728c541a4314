"""Python's parser, one thread at a time."""

from __future__ import annotations

import ast
import threading
from typing import Any, Literal, overload

_TRIES = 5
_alone = threading.RLock()


@overload
def parse_tree(text: str, mode: Literal["exec"] = "exec") -> ast.Module: ...
@overload
def parse_tree(text: str, mode: Literal["eval"]) -> ast.Expression: ...
def parse_tree(text: str, mode: str = "exec") -> Any:
    """As `ast.parse`, for engines that read candidates in several threads. Raises what it raises.

    CPython counts how deep it is in one tree for all threads of a process, and ends in SystemError where another
    thread began a tree meanwhile.
    """
    for left in reversed(range(_TRIES)):
        try:
            with _alone:
                return ast.parse(text, mode=mode)
        except SystemError:  # code that is not kengine's parses in a thread of its own
            if not left:
                raise
    raise AssertionError("unreachable")
