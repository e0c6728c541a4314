"""No CUDA kernel can be launched from the entry.

What it does:
Follows every name from the entry and looks for what makes kernels: CuPy's RawKernel, RawModule, ElementwiseKernel and
ReductionKernel, and load_inline or load of torch.

Why is this bad:
The answer then comes from somewhere else, usually from framework operators.

Example:
    KERNEL = cupy.RawKernel(SOURCE, "rmsnorm")

    def candidate(x, w):
        return torch.nn.functional.rms_norm(x, x.shape[-1:], w)

Use instead:
    def candidate(x, w):
        y = torch.empty_like(x)
        KERNEL((x.shape[0],), (256,), (cupy.from_dlpack(x), cupy.from_dlpack(w), cupy.from_dlpack(y), x.shape[1]))
        return y
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kengine.lint.launch import builds_code
from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

from kengine_cuda.lint.makers import made


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Report the entry when it reaches nothing that makes a kernel."""
    owners = source.graph.owners.get(source.entry, [])
    if not owners or builds_code(source) or made(source, "reached") or _leaves_the_file(source, context):
        return
    about = "the kernels of the file are not used by it" if made(source) else "the file makes no kernel"
    yield hit(owners[0], f"no CUDA kernel is launched from {source.entry!r}: {about}")


def _leaves_the_file(source: SourceTree, context: Context) -> bool:
    """Whether the entry uses something that may launch kernels of another file of the candidate."""
    for node, name in source.references():
        if node in source.reached and (name.partition(".")[0] in context.modules or name.startswith("torch.ops")):
            return True
    return any(isinstance(node, ast.ImportFrom) and (node.level or node.names[0].name == "*") for node in source.nodes)


RULE = Rule("KC101", "never-launched", "reject", check, __doc__, main_only=True)
