"""Kernels that a candidate's Python files define for its host code, whether or not anything launches them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from kengine.model import Candidate
from kengine.syntax import parse_tree

if TYPE_CHECKING:
    from kengine.lint.launch import KernelForm

_Function = (ast.FunctionDef, ast.AsyncFunctionDef)
LARGEST = 1 << 20
"""Characters of a file that is looked at; a larger one counts as defining nothing."""


def find_kernels(candidate: Candidate, form: KernelForm, returns: bool = True) -> tuple[str, ...]:
    """Names of kernels in order of definition; those that only other kernels call are not among them.

    returns: whether a kernel may return a value; where it may not, a function that does is a helper. A file that is no
    Python adds nothing.
    """
    found: dict[str, None] = {}
    for file in candidate.files:
        if file.path and not file.path.endswith(".py"):
            continue
        if len(file.text) > LARGEST:
            continue
        try:
            found |= dict.fromkeys(_in_file(file.text, parse_tree(file.text), form, returns))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return tuple(found)


def _in_file(text: str, tree: ast.Module, form: KernelForm, returns: bool) -> list[str]:
    from kengine.lint.launch import Kernels, builds_code
    from kengine.lint.source import SourceTree

    source = SourceTree(text, tree)
    if builds_code(source):
        return []  # what is launched may stand nowhere in the text
    kernels = Kernels(source, form)
    plain = {node.name: node for node in source.nodes if isinstance(node, _Function) and node not in kernels.functions}
    calls = [n for n in source.nodes if isinstance(n, ast.Call) and source.resolve(n.func) & form.makers]
    made = [plain[name] for call in calls for name in map(_mentioned, call.args) if name in plain]
    functions = [*kernels.functions, *dict.fromkeys(made)]
    names = {function.name for function in functions}
    bodies = kernels.bodies | {n for function in made for s in function.body for n in ast.walk(s)}
    inside: set[str] = set()
    outside: set[str] = set()
    for node in source.nodes:
        name = _mentioned(node)
        if name in names:
            (inside if node in bodies else outside).add(name)
    return [
        function.name
        for function in functions
        if (function.name in outside or function.name not in inside)
        and (returns or not _gives_value(function))
        and function not in bodies
    ]


def _mentioned(node: ast.AST) -> str:
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else ""


def _gives_value(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    pending: list[ast.AST] = list(function.body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Return) and not (node.value is None or _is_none(node.value)):
            return True
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            pending += ast.iter_child_nodes(node)
    return False


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None
