"""A Python float is an argument of a raw kernel.

What it does:
Finds floats among the arguments of a call `kernel(grid, block, (...))`, literal or named at the top of the file.

Why is this bad:
CuPy passes a Python float as eight bytes of double. A parameter of type float reads four of them: another number.

Example:
    kernel((rows,), (256,), (x, y, n, 1e-6))

Use instead:
    kernel((rows,), (256,), (x, y, n, cupy.float32(1e-6)))
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

from kengine_cuda.lint.makers import RAW
from kengine_cuda.lint.texts import find_texts

_TAKES_FLOAT = re.compile(r"\b(?:float|half|__half)\s+\w+\s*[,)]")


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at calls with a grid, a block and arguments, where some kernel takes a float by value."""
    texts = find_texts(source)
    if not any(names & RAW for _, names in source.calls()) or not any(_TAKES_FLOAT.search(t.code) for t in texts):
        return
    if any(re.search(r"\bdouble\s+\w+\s*[,)]", t.code) for t in texts):
        return  # which of the two an argument meets, the text does not show
    for call in source.find(ast.Call):
        if len(call.args) == 3 and all(isinstance(a, ast.Tuple) for a in call.args[:2]):
            arguments = call.args[2]
            for item in arguments.elts if isinstance(arguments, (ast.Tuple, ast.List)) else ():
                if _is_float(source, item):
                    yield hit(item, "a Python float is passed as a double; write cupy.float32(...)")


def _is_float(source: SourceTree, node: ast.expr) -> bool:
    """Whether an expression is a float in the text, or a name at the top of the file for one."""
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    if isinstance(node, ast.Name):
        values = [
            statement.value
            for statement in source.tree.body
            if isinstance(statement, ast.Assign) and any(getattr(t, "id", "") == node.id for t in statement.targets)
        ]
        return len(values) == 1 and isinstance(values[0], ast.Constant) and isinstance(values[0].value, float)
    return isinstance(node, ast.Constant) and isinstance(node.value, float)


RULE = Rule("KC104", "python-float-argument", "warn", check, __doc__)
