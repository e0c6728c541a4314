"""No Triton kernel can be launched from the entry.

What it does:
Follows every name from the entry: aliases, partials, lists, loops, decorators, autotuners, heuristics, methods,
registered operators. Reports when no use of a kernel and no `something[grid](...)` is met on the way. A kernel that
is only evaluated, as in `kernel[grid]` without a call, is not used.

Why is this bad:
The answer then comes from somewhere else, usually from framework operators.

Example:
    @triton.jit
    def rmsnorm_kernel(...): ...

    def candidate(x, w):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * w

Use instead:
    def candidate(x, w):
        y = torch.empty_like(x)
        rmsnorm_kernel[(x.shape[0],)](x, w, y, x.shape[1], BLOCK=1024)
        return y
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kengine.lint.launch import builds_code
from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

from kengine_triton.lint.kernels import find_kernels


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Report the entry when nothing that it reaches can be a launch."""
    owners = source.graph.owners.get(source.entry, [])
    kernels = find_kernels(source)
    if not owners or builds_code(source) or source.entry in kernels.names:
        return
    if any(True for _ in kernels.mentions()) or any(True for _ in kernels.launches()):
        return
    if _leaves_the_file(source, context):
        return
    defined = ", ".join(sorted(kernels.names))
    about = f"the kernels of the file ({defined}) are not used by it" if defined else "the file defines no kernel"
    yield hit(owners[0], f"no Triton kernel is launched from {source.entry!r}: {about}")


def _leaves_the_file(source: SourceTree, context: Context) -> bool:
    """Whether the entry uses something that may launch kernels of another file of the candidate, or of an extension."""
    for node, name in source.references():
        root = name.partition(".")[0]
        if node in source.reached and (root in context.modules or root == "" or name.startswith("torch.utils.cpp_ext")):
            return True
    return any(isinstance(node, ast.ImportFrom) and (node.level or node.names[0].name == "*") for node in source.nodes)


RULE = Rule("KT101", "never-launched", "reject", check, __doc__, main_only=True)
