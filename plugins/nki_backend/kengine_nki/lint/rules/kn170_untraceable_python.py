"""Python that the compiler of the standalone package does not read, up to release 0.6.

What it does:
Finds `is`, keyword-only parameters, list defaults, `try`, `lambda`, comprehensions with conditions, and kernels inside
of kernels, in kernels of the standalone package and their helpers.

Why is this bad:
Until release 0.7 a parser that knows a part of Python reads kernels. The interpreter runs them as Python, so a correct
verdict from it does not say that such a release compiles the kernel.

Example:
    if bias is not None:
        add(bias)

Use instead:
    if bias != None:
        add(bias)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

from kengine_nki.lint.kernels import Function, device_functions, find_kernels, generation_of, own_nodes

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at device functions."""
    live, kernels = set(source.live), find_kernels(source).functions
    for function in device_functions(source):
        if function not in live or generation_of(source, function) != "new":
            continue
        for node in (function, *own_nodes(function)):
            what = _signature(function) if node is function else _refused(node, kernels)
            if what:
                yield hit(node, f"{what} compiles only since NKI 0.7; the interpreter runs it")


def _signature(function: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    if function.args.kwonlyargs:
        return "a keyword-only parameter"
    return "a list as a default" if any(isinstance(d, ast.List) for d in function.args.defaults) else ""


def _refused(node: ast.AST, kernels: list[ast.FunctionDef | ast.AsyncFunctionDef]) -> str:
    if isinstance(node, ast.Compare) and any(isinstance(op, (ast.Is, ast.IsNot)) for op in node.ops):
        return "`is` (write == or !=)"
    if isinstance(node, ast.Try):
        return "try"
    if isinstance(node, ast.Lambda):
        return "a lambda"
    if isinstance(node, _COMPREHENSIONS) and any(g.ifs for g in node.generators):
        return "a comprehension with a condition"
    return "a kernel inside of a kernel" if isinstance(node, Function) and node in kernels else ""


RULE = Rule("KN170", "untraceable-python", "warn", check, __doc__)
