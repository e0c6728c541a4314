"""A kernel is launched, and what it returns does not reach the returned value.

What it does:
In functions that launch kernels, follows what launches return, and what is passed to kernels that write to their
arguments. Reports when a value is returned that none of them reaches; it is rejected when that value is computed by
numpy or a framework.

Why is this bad:
A launch whose result is dropped, with the answer from numpy beside it, looks like a kernel and is none.

Example:
    def candidate(x):
        softmax_kernel(x)
        return scipy.special.softmax(x, axis=-1)

Use instead:
    def candidate(x):
        return softmax_kernel(x)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

from kengine_nki.lint.host import work_name
from kengine_nki.lint.kernels import Function, find_kernels, own_nodes, parameters
from kengine_nki.lint.writes import root, written_names

_Statement = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.NamedExpr, ast.Expr)


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Follow launches, function by function."""
    kernels = find_kernels(source)
    by_function: dict[ast.AST, list[ast.Call]] = {}
    for call in kernels.launches():
        if any(n[1:] in kernels.names for n in source.resolve(_launched(call)) if n.startswith("@")):
            function = source.function_of(call)
            if isinstance(function, Function):
                by_function.setdefault(function, []).append(call)
    for function, launches in by_function.items():
        assert isinstance(function, Function)
        value = _unreached(source, function, launches)
        if value is not None:
            computed = any(work_name(source, n) for n in ast.walk(value)) or _comes_from_work(source, function, value)
            yield hit(
                launches[0],
                "nothing that this launch returns reaches the value that is returned; return the kernel's result",
                "reject" if computed else None,
            )


def _launched(call: ast.Call) -> ast.expr:
    return call.func.value if isinstance(call.func, ast.Subscript) else call.func


def _unreached(
    source: SourceTree, function: ast.FunctionDef | ast.AsyncFunctionDef, launches: list[ast.Call]
) -> ast.expr | None:
    """A returned value that no launch reaches, None when any is reached or the text is not sure."""
    own = list(own_nodes(function))
    returned = [n.value for n in own if isinstance(n, ast.Return) and n.value is not None]
    odd = (ast.Yield, ast.YieldFrom, ast.Lambda, ast.FunctionDef, ast.ClassDef, ast.Global, ast.Nonlocal)
    if not returned or any(isinstance(n, odd) for n in own) or any(_is_kept(source, c) for c in launches):
        return None
    reached = _spread(source, own, launches)
    launched = set(launches)
    for value in returned:
        if any(i in launched or (isinstance(i, ast.Name) and i.id in reached) for i in ast.walk(value)):
            return None
    return returned[-1]


def _spread(source: SourceTree, own: list[ast.AST], launches: list[ast.Call]) -> set[str]:
    """Names to which what launches return or write may flow, statement by statement until nothing is added."""
    launched = set(launches)
    flows: dict[str, list[set[str]]] = {}
    pending = [name for call in launches for name in _written_arguments(source, call)]
    for node in own:
        if not isinstance(node, _Statement) or (isinstance(node, ast.Expr) and node.value in launched):
            continue
        inner = list(ast.walk(node))
        targets = {n.id for t in _targets(node) for n in ast.walk(t) if isinstance(n, ast.Name)}
        if any(i in launched for i in inner):
            pending += targets
        for name in {i.id for i in inner if isinstance(i, ast.Name)}:
            flows.setdefault(name, []).append(targets)
    reached: set[str] = set()
    while pending:
        name = pending.pop()
        if name not in reached:
            reached.add(name)
            for targets in flows.get(name, ()):
                pending += targets - reached
    return reached


def _targets(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.Assign):
        return list(node.targets)
    if isinstance(node, (ast.AugAssign, ast.AnnAssign, ast.NamedExpr)):
        return [node.target]
    call = node.value if isinstance(node, ast.Expr) else None
    if isinstance(call, ast.Call):  # results.append(kernel(x)), np.copyto(y, kernel(x))
        return [*call.args, *([call.func.value] if isinstance(call.func, ast.Attribute) else [])]
    return []


def _is_kept(source: SourceTree, call: ast.Call) -> bool:
    """Whether a result goes to an attribute, where this rule does not follow it."""
    parent = source.parents.get(call)
    return isinstance(parent, ast.Assign) and any(isinstance(t, ast.Attribute) for t in parent.targets)


def _written_arguments(source: SourceTree, call: ast.Call) -> Iterator[str]:
    """Names passed to a kernel that writes to its parameters, or that returns nothing, or that is not known."""
    arguments = [*call.args, *(k.value for k in call.keywords)]
    names = {n[1:] for n in source.resolve(_launched(call)) if n.startswith("@")}
    if not names & _keeping(source) or names - _keeping(source):
        yield from (name.id for name in map(root, arguments) if name is not None)


@lru_cache(maxsize=4)
def _keeping(source: SourceTree) -> frozenset[str]:
    """Kernels that return something and write to no parameter."""
    return frozenset(
        kernel.name
        for kernel in find_kernels(source).functions
        if any(isinstance(n, ast.Return) and n.value is not None for n in own_nodes(kernel))
        and not written_names(source, kernel) & set(parameters(kernel))
    )


def _comes_from_work(source: SourceTree, function: ast.AST, value: ast.expr) -> bool:
    """Whether a returned name was assigned from something that computes on the host."""
    names = {n.id for n in ast.walk(value) if isinstance(n, ast.Name)}
    for node in ast.walk(function):
        assigned = node.targets if isinstance(node, ast.Assign) else []
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id in names for t in assigned):
            found = any(work_name(source, n) for n in ast.walk(node.value))
            if found:
                return True
    return False


RULE = Rule("KN103", "result-discarded", "warn", check, __doc__)
