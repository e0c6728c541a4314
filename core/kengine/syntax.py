"""Python's parser, one thread at a time."""

from __future__ import annotations

import ast
import sys
import threading
from typing import Any, Literal, overload

_TRIES = 5
_DEEPEST = 2_700
"""Levels of a tree that a compiler with Python's usual limit of 1,000 calls can go down."""
_alone = threading.RLock()


@overload
def parse_tree(text: str, mode: Literal["exec"] = "exec", filename: str = ...) -> ast.Module: ...
@overload
def parse_tree(text: str, mode: Literal["eval"], filename: str = ...) -> ast.Expression: ...
def parse_tree(text: str, mode: str = "exec", filename: str = "<unknown>") -> Any:
    """As `ast.parse`, for engines that read candidates in several threads. Raises what it raises.

    CPython to 3.11.7 counts how deep it is in one tree for all threads of a process, and ends in SystemError where
    another thread, or a finaliser that the collector of garbage calls meanwhile, began a tree of its own. CPython 3.10
    makes a tree of any depth, which its compiler then refuses; from 3.11 on such a text ends in RecursionError here.
    """
    for left in reversed(range(_TRIES)):
        try:
            with _alone:
                tree = ast.parse(text, filename, mode=mode)
            break
        except SystemError:  # code that is not kengine's parsed meanwhile
            if not left:
                raise
    if sys.version_info < (3, 11):
        _check_depth(tree)
    return tree


def _check_depth(tree: ast.AST) -> None:
    level, depth = [tree], 0
    while level:
        depth += 1
        if depth > _DEEPEST:
            raise RecursionError("maximum recursion depth exceeded during ast construction")
        level = [inner for node in level for inner in ast.iter_child_nodes(node)]
