"""Some calls are answered by framework operators instead of a kernel.

What it does:
In functions that launch a kernel, finds a `return` under an `if` whose value is computed by framework operators
from the arguments and that stands where no launch came before it.

Why is this bad:
The branch may be the one that every measured call takes. Empty inputs and devices without the language are honest
reasons, so this is a warning; the checks count launches in the calls that are measured.

Example:
    if x.shape[-1] > 1024:
        return torch.nn.functional.softmax(x, -1)
    softmax_kernel[grid](x, y)
    return y

Use instead:
    Write the kernel so that it handles all sizes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

from kengine_triton.lint.kernels import find_kernels

_MAKERS = ("empty", "zeros", "ones", "full", "tensor", "contiguous", "view", "reshape", "clone", "to", "new_", "detach")


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at returns under conditions."""
    first: dict[ast.AST, int] = {}
    for launch in find_kernels(source).launches():
        function = source.function_of(launch)
        if function is not None:
            first[function] = min(first.get(function, launch.lineno), launch.lineno)
    for node in source.find(ast.Return):
        function = source.function_of(node)
        if function not in first or node.lineno > first[function] or node.value is None:
            continue
        if not isinstance(source.parents.get(node), ast.If):
            continue
        for call in ast.walk(node.value):
            if isinstance(call, ast.Call):
                names = {n for n in source.resolve(call.func) if n.startswith("torch.")}
                work = [n for n in names if not n.rpartition(".")[2].startswith(_MAKERS)]
                if work:
                    yield hit(node, f"answers with {work[0]} instead of a kernel for some inputs")
                    break


RULE = Rule("KT105", "host-fallback", "warn", check, __doc__)
