"""A failed launch is answered by the framework.

What it does:
Finds a launch `kernel[grid](...)` inside `try` (or `contextlib.suppress`) with a handler that goes on instead of
raising. Handlers around imports are fine.

Why is this bad:
A kernel that never compiles passes every test when something else answers for it. It is a warning: the integrity
checks run the candidate once with launches that raise.

Example:
    try:
        kernel[grid](x, y)
    except Exception:
        y = torch.nn.functional.gelu(x)

Use instead:
    kernel[grid](x, y)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kengine.lint.launch import subscript_launches
from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at what stands around each launch."""
    for call in subscript_launches(source, "live"):
        child: ast.AST = call
        parent = source.parents.get(child)
        while parent is not None and not isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)):
            if isinstance(parent, ast.Try) and child in parent.body:
                for handler in parent.handlers:
                    if not any(isinstance(n, ast.Raise) for n in ast.walk(handler)):
                        yield hit(handler, "goes on when the launch fails; let the error out")
            elif isinstance(parent, ast.With):
                for item in parent.items:
                    if isinstance(item.context_expr, ast.Call) and "contextlib.suppress" in source.resolve(
                        item.context_expr.func
                    ):
                        yield hit(parent, "swallows the error of a failed launch; let it out")
            child, parent = parent, source.parents.get(parent)


RULE = Rule("KE124", "falls-back", "warn", check, __doc__)
