"""The candidate computes in a lower precision than the task's.

What it does:
Finds casts to float16, bfloat16 and float8 in live host code of a task that mentions none of these types.

Why is this bad:
Half the bits are twice the speed and another answer. It is a warning: the comparison decides whether the error is
still within what the task allows.

Example:
    y = kernel_call(x.half(), w.half()).float()

Use instead:
    Compute in the dtype of the arguments, accumulate in float32.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree
from kengine.plugins import dialect

_LOW = re.compile(r"(float16|half|bfloat16|float8\w*)\Z")
_MODULES = ("", "torch", "numpy", "jax.numpy")
_MENTION = re.compile(r"\b(float16|bfloat16|half|float8\w*|fp16|bf16|fp8)\b")


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at casts, unless the task itself speaks of low precision."""
    task = context.task
    if _MENTION.search(task.source) or any(_is_low(case.dtype) for case in task.spec.cases):
        return
    for call, _ in source.calls():
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        if method in ("half", "bfloat16") and not call.args and not source.resolve(call.func):
            yield hit(call, f".{method}() lowers the precision of a task that is not in {method}")
        elif method in ("to", "type", "astype", "view"):
            for argument in (*call.args, *(k.value for k in call.keywords)):
                low = next((n for n in source.resolve(argument) if _is_low(n)), "")
                if low and method != "view":
                    yield hit(call, f"casts to {low.rpartition('.')[2]} in a task that has no such type")


def _is_low(name: str) -> bool:
    """Whether a dotted name is a type of 16 bits or less: Python's libraries have them, and those of the backends."""
    module, _, last = name.rpartition(".")
    known = module in _MODULES or module.partition(".")[0] in dialect.declared().libraries
    return known and _LOW.match(last) is not None


RULE = Rule("KE201", "lowers-precision", "warn", check, __doc__)
