"""Some calls are answered by the host instead of a kernel.

What it does:
In functions that launch a kernel, finds a `return` under an `if` whose value numpy or a framework computes, where no
launch came before.

Why is this bad:
The branch may be the one that every measured call takes. Empty inputs are an honest reason, so this is a warning.

Example:
    if x.shape[0] % 128:
        return np.exp(x)
    return exp_kernel(x)

Use instead:
    return exp_kernel(x)  # the kernel slices its last tile to the true size
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

from kengine_nki.lint.host import work_name
from kengine_nki.lint.kernels import find_kernels


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at returns under conditions."""
    launches = list(find_kernels(source).launches())
    launching = {source.function_of(c): c for c in reversed(launches)}
    every = set(launches)
    for node in source.find(ast.Return):
        first = launching.get(source.function_of(node))
        if first is None or node.value is None or not isinstance(source.parents.get(node), ast.If):
            continue
        own = any(n in every for n in ast.walk(node.value))
        what = next((w for n in ast.walk(node.value) if (w := work_name(source, n))), "")
        if what and not own and node.lineno <= first.lineno:
            yield hit(node, f"answers with {what} instead of a kernel for some inputs; let the kernel handle them")


RULE = Rule("KN104", "host-fallback", "warn", check, __doc__)
