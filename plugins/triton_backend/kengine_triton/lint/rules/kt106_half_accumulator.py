"""A sum is accumulated in 16 or 8 bits.

What it does:
Finds accumulators made by `tl.zeros` or `tl.full` in a narrow type that a loop adds to, and reductions over an
expression that was just cast to one.

Why is this bad:
The sum of a long row leaves the range or the precision of the type. Accumulate in float32 and cast once at the end.

Example:
    acc = tl.zeros((BLOCK,), dtype=tl.float16)
    for k in range(0, K, BLOCK):
        acc += tl.load(x_ptr + k)

Use instead:
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

from kengine_triton.lint.kernels import LANGUAGE, find_kernels, language_calls

_NARROW = tuple(f"{LANGUAGE}.{name}" for name in ("float16", "bfloat16", "float8"))


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at accumulators and at reductions."""
    for kernel in find_kernels(source).functions:
        added = {
            n.target.id for n in ast.walk(kernel) if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name)
        }
        for node in ast.walk(kernel):
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and _makes_narrow(source, node.value):
                for target in node.targets:
                    if isinstance(target, ast.Name) and target.id in added:
                        yield hit(node, f"accumulates {target.id!r} in a narrow type; use tl.float32")
        for call in language_calls(source, kernel, "sum"):
            if call.args and any(_is_narrow_cast(source, n) for n in ast.walk(call.args[0])):
                yield hit(call, "sums what was just cast to a narrow type; cast after the sum")


def _makes_narrow(source: SourceTree, call: ast.Call) -> bool:
    if not source.resolve(call.func) & {f"{LANGUAGE}.zeros", f"{LANGUAGE}.full"}:
        return False
    return any(_is_narrow(source, a) for a in (*call.args, *(k.value for k in call.keywords)))


def _is_narrow_cast(source: SourceTree, node: ast.AST) -> bool:
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "to"):
        return False
    return any(_is_narrow(source, a) for a in node.args)


def _is_narrow(source: SourceTree, node: ast.AST) -> bool:
    return any(name.startswith(_NARROW) for name in source.resolve(node))


RULE = Rule("KT106", "half-accumulator", "warn", check, __doc__)
