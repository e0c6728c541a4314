"""How many arguments a function takes and returns, as far as its text says."""

from __future__ import annotations

import ast
from dataclasses import dataclass

_Function = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Signature:
    """Positional parameters by name, how many of them have no default, and what else is accepted."""

    names: tuple[str, ...]
    required: int
    varargs: bool
    keywords: tuple[str, ...]
    required_keywords: tuple[str, ...]
    varkw: bool

    def accepts(self, count: int) -> bool:
        """Whether a call with `count` positional arguments binds."""
        return self.required <= count and (self.varargs or count <= len(self.names)) and not self.required_keywords


def read_signature(node: ast.AST, method: bool = False) -> Signature | None:
    """Signature of a plain function; None for anything whose decorators may change it, or that is no function."""
    if not isinstance(node, _Function):
        return None
    if any(not _keeps_signature(d) for d in node.decorator_list):
        return None
    names = [a.arg for a in node.args.posonlyargs + node.args.args]
    required = len(names) - len(node.args.defaults)
    if method:
        names, required = names[1:], max(required - 1, 0)
    keywords = tuple(a.arg for a in node.args.kwonlyargs)
    needed = tuple(a.arg for a, d in zip(node.args.kwonlyargs, node.args.kw_defaults) if d is None)
    return Signature(
        tuple(names), required, node.args.vararg is not None, keywords, needed, node.args.kwarg is not None
    )


def find_method(node: ast.AST, name: str) -> ast.stmt | None:
    """The method `name` that a class body itself defines."""
    if not isinstance(node, ast.ClassDef):
        return None
    found = None
    for inner in node.body:
        if isinstance(inner, _Function) and inner.name == name:
            found = inner
    return found


def count_returned(node: ast.AST, single: bool = False) -> int | None:
    """How many values every `return` of a function gives, when all are tuples or lists written out.

    With `single`, arithmetic counts as one value. None when the text does not say.
    """
    if not isinstance(node, _Function):
        return None
    counts: set[int | None] = set()
    pending: list[ast.AST] = list(node.body)
    while pending:
        inner = pending.pop()
        if isinstance(inner, (*_Function, ast.ClassDef, ast.Lambda)):
            continue
        if isinstance(inner, (ast.Yield, ast.YieldFrom)):
            return None
        if isinstance(inner, ast.Return):
            counts.add(_count(inner.value, single))
        pending += ast.iter_child_nodes(inner)
    return counts.pop() if len(counts) == 1 else None


def _count(value: ast.expr | None, single: bool) -> int | None:
    if isinstance(value, (ast.Tuple, ast.List)):
        return None if any(isinstance(e, ast.Starred) for e in value.elts) else len(value.elts)
    if single and isinstance(value, (ast.BinOp, ast.UnaryOp)) and _is_arithmetic(value):
        return 1
    return None


def _is_arithmetic(value: ast.expr) -> bool:
    """Arithmetic on arrays and numbers; adding or repeating tuples and lists is not."""
    sides = (getattr(value, "left", None), getattr(value, "right", None))
    return not any(isinstance(side, (ast.Tuple, ast.List)) for side in sides)


def _keeps_signature(decorator: ast.expr) -> bool:
    """Decorators that are known to leave parameters alone (torch.no_grad(), functools.cache, ...)."""
    target = decorator.func if isinstance(decorator, ast.Call) else decorator
    name = target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")
    return name in {"no_grad", "inference_mode", "enable_grad", "lru_cache", "cache", "wraps", "profile"}
