"""A function that the simulator runs and the hardware does not have.

What it does:
Finds `nl.divide`, `nl.mod`, `nl.fmod`, `nl.softmax`, `nl.rms_norm`, and `nl.matmul` without `transpose_x=True`, in the
standalone package.

Why is this bad:
The compiler refuses them, or compiles them into something slow; the verdict of a simulator does not say so.

Example:
    y = nl.divide(a, b)

Use instead:
    nisa.reciprocal(dst=r, data=b)
    nisa.tensor_tensor(dst=y, data1=a, data2=r, op=nl.multiply)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

from kengine_nki.lint.calls import find_calls

_INSTEAD = {
    "divide": "multiply with nisa.reciprocal",
    "mod": "compute it from instructions of nki.isa",
    "fmod": "compute it from instructions of nki.isa",
    "softmax": "write it with nisa.activation and nisa.tensor_reduce",
    "rms_norm": "write it with nisa.activation_reduce and nisa.tensor_scalar",
}


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at calls of nki.language."""
    for call in find_calls(source):
        if not call.is_new or call.name.module != "language":
            continue
        if call.member in _INSTEAD:
            yield hit(call.node, f"{call.name.short} runs in simulators only; {_INSTEAD[call.member]}")
        elif call.member == "matmul" and not call.spread:
            flag = call.get("transpose_x")
            if flag is None or (isinstance(flag, ast.Constant) and flag.value is False):
                yield hit(
                    call.node,
                    "nl.matmul without transpose_x=True runs in simulators only; pass x with the contraction first",
                )


RULE = Rule("KN157", "simulator-only", "warn", check, __doc__)
