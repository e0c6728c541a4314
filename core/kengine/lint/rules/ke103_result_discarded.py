"""A kernel is launched, and what it writes does not reach the returned value.

What it does:
In functions that launch `kernel[grid](...)`, follows the tensors that the function made itself and handed to the
launch, through assignments, views and calls. Reports when a value is returned that none of them reaches, or when an
operator of the framework wrote over it afterwards. A warning, since running the candidate with launches that do nothing
is proof.

Why is this bad:
A launch into a scratch tensor, with the answer from framework operators beside it, looks like a kernel and is none.

Example:
    scratch = torch.empty_like(x)
    copy_kernel[(n,)](x, scratch, BLOCK=1024)
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * w

Use instead:
    y = torch.empty_like(x)
    rmsnorm_kernel[(n,)](x, w, y, BLOCK=1024)
    return y
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kengine.lint.flow import find_flow, weight_names
from kengine.lint.launch import builds_code, subscript_launches
from kengine.lint.operators import spellings
from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

_Function = (ast.FunctionDef, ast.AsyncFunctionDef)
_VIEWS = frozenset({"view", "reshape", "t", "squeeze", "unsqueeze", "contiguous", "transpose", "permute", "view_as",
                    "flatten", "expand", "detach", "to", "clone"})  # fmt: skip


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Follow what is handed to launches, from the entry and function by function."""
    flow = find_flow(source, weight_names(context.task.source))
    allowed = any(context.allows(w.operator, *spellings(w.bare)) for w in flow.works)
    if flow.launches and flow.bypassed and not allowed and not builds_code(source):
        message = "nothing that this launch writes reaches the value that is returned"
        yield hit(flow.launches[0][0], message)
        return
    by_function: dict[ast.AST, list[ast.Call]] = {}
    for call in subscript_launches(source):
        function = source.function_of(call)
        if isinstance(function, _Function):
            by_function.setdefault(function, []).append(call)
    for function, launches in by_function.items():
        assert isinstance(function, _Function)
        if _is_discarded(source, function, launches):
            yield hit(launches[0], "nothing that this launch writes reaches the value that is returned")


def _is_discarded(
    source: SourceTree, function: ast.FunctionDef | ast.AsyncFunctionDef, launches: list[ast.Call]
) -> bool:
    own = list(ast.walk(function))
    returned = [
        n.value for n in own if isinstance(n, ast.Return) and n.value is not None and source.function_of(n) is function
    ]
    if not returned or any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in own):
        return False
    arguments = [a for call in launches for a in (*call.args, *(k.value for k in call.keywords))]
    parameters = {a.arg for a in ast.walk(function.args) if isinstance(a, ast.arg)}
    handed = {name for a in arguments for name in _roots(a)}
    made = {name for name in handed if name not in parameters and _is_made_here(function, name)}
    if not made or any("." in name for name in handed):
        return False
    reached = _spread(function, made)
    for value in returned:
        if reached & _names(value):
            return False
        parts = value.elts if isinstance(value, ast.Tuple) else [value]
        if any(_view_of(part) in handed & parameters for part in parts):
            return False
    return True


def _roots(node: ast.expr) -> Iterator[str]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name):
            yield inner.id
        elif isinstance(inner, ast.Attribute) and isinstance(inner.value, ast.Name) and inner.value.id == "self":
            yield f"self.{inner.attr}"


def _is_made_here(function: ast.AST, name: str) -> bool:
    """Whether a local tensor comes out of a call (`torch.empty_like(x)`); sizes and shapes do not count."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in node.targets):
            called = node.value.func if isinstance(node.value, ast.Call) else None
            last = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            if (
                "empty" in last
                or last.startswith(("zeros", "ones", "full", "new_"))
                or last in ("clone", "rand", "randn")
            ):
                return True
    return False


def _spread(function: ast.AST, names: set[str]) -> set[str]:
    """All names that share a statement with one of `names`, until nothing is added; arguments of launches do not."""
    reached = set(names)
    statements = [
        n
        for n in ast.walk(function)
        if isinstance(n, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.NamedExpr))
    ]
    changed = True
    while changed:
        changed = False
        for node in statements:
            if isinstance(node, ast.Expr):
                if isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Subscript):
                    continue
                if isinstance(node.value, (ast.Call, ast.Await)) and reached & _names(node):
                    more = _names(node) - reached
                else:
                    more = set()
            else:
                value = node.value
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                more = set().union(*map(_names, targets)) - reached if value and reached & _names(value) else set()
            if more:
                reached |= more
                changed = True
    return reached


def _names(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def _view_of(node: ast.expr) -> str:
    while True:
        if isinstance(node, ast.Name):
            return node.id
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _VIEWS:
            node = node.func.value
        elif isinstance(node, ast.Subscript) or (isinstance(node, ast.Attribute) and node.attr in ("T", "mT", "data")):
            node = node.value
        else:
            return ""


RULE = Rule("KE103", "result-discarded", "warn", check, __doc__)
