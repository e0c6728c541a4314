"""Whether a loop of the kernel may run backwards: not if Python itself, not the device, depends on the order."""

from __future__ import annotations

import ast
import linecache
from functools import lru_cache
from typing import Any

ORDERED_METHODS = {"append", "extend", "insert", "pop", "popleft", "appendleft"}
PYTHON_VALUES = (int, float, complex, str, list, tuple)


@lru_cache(maxsize=64)
def _loops(filename: str, lines: tuple[str, ...]) -> dict[int, ast.For]:
    try:
        tree = ast.parse("".join(lines))
    except (SyntaxError, ValueError):
        return {}
    return {node.iter.lineno: node for node in ast.walk(tree) if isinstance(node, ast.For)}


def may_reverse(frame: Any) -> bool:
    """Whether the `for` loop at the frame's line leaves no ordered trace in Python lists, iterators or numbers.

    A list that grows in the loop body, or a number or list updated in place, follows the order of iterations on real
    hardware too, since loops are unrolled in order when the kernel is traced; that is not a race. So it is with
    `accumulate=k > 0` of nc_matmul and with `if k == 0:`, which treat one iteration differently.
    """
    filename = frame.f_code.co_filename
    loop = _loops(filename, tuple(linecache.getlines(filename))).get(frame.f_lineno)
    if loop is None:
        return False
    variables = {n.id for n in ast.walk(loop.target) if isinstance(n, ast.Name)}
    for node in ast.walk(loop):
        if isinstance(node, (ast.If, ast.IfExp)):
            names = {n.id for n in ast.walk(node.test) if isinstance(n, ast.Name)}
            if names & variables:
                return False
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute) and node.func.attr in ORDERED_METHODS:
                return False
            if isinstance(node.func, ast.Name) and node.func.id == "next":
                return False
            if any(keyword.arg == "accumulate" for keyword in node.keywords):
                return False
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            value = frame.f_locals.get(node.target.id, frame.f_globals.get(node.target.id))
            if isinstance(value, PYTHON_VALUES):
                return False
    return True
