"""A kernel that stores nothing, or stores what it loaded.

What it does:
Finds launched kernels without any store or atomic, and kernels whose stores only write values straight from a load,
unchanged or multiplied by one.

Why is this bad:
The first has no effect, the second copies: the work is done elsewhere. It is a warning, since copies and transposes
are tasks too.

Example:
    @triton.jit
    def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)

Use instead:
    Compute in the kernel what the task asks for.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

from kengine_triton.lint.kernels import find_kernels, language_calls


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at the stores of kernels that the entry uses and that no other kernel calls."""
    kernels = find_kernels(source)
    inner = {n.id for n in kernels.bodies if isinstance(n, ast.Name)}
    used = {getattr(m, "id", getattr(m, "attr", getattr(m, "value", ""))) for m in kernels.mentions()}
    for kernel in kernels.functions:
        if kernel.name in inner or kernel.name not in used or _calls_helpers(source, kernel, kernels.names):
            continue
        stores = language_calls(source, kernel, "store")
        if not stores:
            if not any(isinstance(n, ast.Attribute) and "atomic" in n.attr for n in ast.walk(kernel)) and not any(
                isinstance(n, ast.Attribute) and n.attr == "store" for n in ast.walk(kernel)
            ):
                yield hit(kernel, f"kernel {kernel.name!r} stores nothing")
        elif all(_is_copy(source, kernel, call) for call in stores):
            yield hit(kernel, f"kernel {kernel.name!r} only copies what it loads")


def _calls_helpers(source: SourceTree, kernel: ast.AST, names: set[str]) -> bool:
    return any(
        isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id in names for n in ast.walk(kernel)
    )


def _is_copy(source: SourceTree, kernel: ast.AST, call: ast.Call) -> bool:
    value = call.args[1] if len(call.args) > 1 else next((k.value for k in call.keywords if k.arg == "value"), None)
    return value is not None and _is_loaded(source, kernel, value, 0)


def _is_loaded(source: SourceTree, kernel: ast.AST, value: ast.expr, depth: int) -> bool:
    if isinstance(value, ast.Call):
        if "triton.language.load" in source.resolve(value.func):
            return True
        method = value.func.attr if isinstance(value.func, ast.Attribute) else ""
        return method == "to" and isinstance(value.func, ast.Attribute) and (
            _is_loaded(source, kernel, value.func.value, depth)
        )  # fmt: skip
    if isinstance(value, ast.BinOp) and isinstance(value.op, (ast.Mult, ast.Div)):
        ones = isinstance(value.right, ast.Constant) and value.right.value == 1
        return ones and _is_loaded(source, kernel, value.left, depth)
    if isinstance(value, ast.Name) and depth < 8:
        changed = any(
            isinstance(n, ast.AugAssign) and getattr(n.target, "id", "") == value.id for n in ast.walk(kernel)
        )
        bindings = source.scopes.lookup(value.id, value)
        if changed or not bindings:
            return False
        return all(
            b.kind == "value" and isinstance(b.node, ast.expr) and _is_loaded(source, kernel, b.node, depth + 1)
            for b in bindings
        )
    return False


RULE = Rule("KT107", "empty-kernel", "warn", check, __doc__)
