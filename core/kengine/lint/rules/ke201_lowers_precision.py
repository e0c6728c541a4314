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

_LOW = re.compile(r"(torch\.|numpy\.|triton\.language\.|jax\.numpy\.)?(float16|half|bfloat16|float8\w*)\Z")
_MENTION = re.compile(r"\b(float16|bfloat16|half|float8\w*|fp16|bf16|fp8)\b")


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at casts, unless the task itself speaks of low precision."""
    task = context.task
    if _MENTION.search(task.source) or any(_LOW.match(case.dtype) for case in task.spec.cases):
        return
    for call, _ in source.calls():
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        if method in ("half", "bfloat16") and not call.args and not source.resolve(call.func):
            yield hit(call, f".{method}() lowers the precision of a task that is not in {method}")
        elif method in ("to", "type", "astype", "view"):
            for argument in (*call.args, *(k.value for k in call.keywords)):
                low = next((n for n in source.resolve(argument) if _LOW.match(n)), "")
                if low and method != "view":
                    yield hit(call, f"casts to {low.rpartition('.')[2]} in a task that has no such type")


RULE = Rule("KE201", "lowers-precision", "warn", check, __doc__)
