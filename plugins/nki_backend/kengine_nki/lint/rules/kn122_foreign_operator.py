"""An operator that is no function of `nki.language`.

What it does:
Looks at `op`, `op0`, `op1`, `reduce_op` and `cmp_op` of instructions. The standalone package takes functions of
`nki.language` only; the old one takes numpy's functions and their names too.

Why is this bad:
The instruction is refused. A function of another library stands for no operation of the hardware.

Example:
    nisa.activation(dst=y, op=np.exp, data=x)

Use instead:
    nisa.activation(dst=y, op=nl.exp, data=x)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

from kengine_nki.lint.calls import find_calls
from kengine_nki.lint.operators import operators

_FOREIGN = ("torch.", "math.", "operator.", "jax.", "builtins.")


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at operators."""
    for call in find_calls(source):
        for parameter, value in operators(call):
            what = _foreign(source, value, call.is_new)
            if what:
                yield hit(value, f"{call.name.short}({parameter}=) takes an operator of nki.language, got {what}")


def _foreign(source: SourceTree, node: ast.expr, is_new: bool) -> str:
    if isinstance(node, ast.Lambda):
        return "a lambda"
    if isinstance(node, ast.Constant):
        if isinstance(node.value, str):
            return f"the string {node.value!r}; write nl.{node.value}" if is_new else ""
        return f"{node.value!r}"
    names = source.resolve(node)
    wrong = (*_FOREIGN, "numpy.", "neuronxcc.nki.") if is_new else (*_FOREIGN, "nki.")
    found = sorted(names)
    return found[0] if found and all(n.startswith(wrong) for n in found) else ""


RULE = Rule("KN122", "foreign-operator", "warn", check, __doc__)
