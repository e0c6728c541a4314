"""A product, convolution or attention of the framework stands beside the kernel.

What it does:
Finds matrix products, convolutions, attention and `nn.Linear`-like modules of the framework in code that the entry
reaches, outside of constructors. What certainly goes into the result is left to KE126.

Why is this bad:
A kernel that adds the bias to a product of cuBLAS is the product of cuBLAS. It is a warning: folding parameters
with each other once is honest, and the checks see which operator wrote the result. A task may permit one: `allow =
["torch.matmul"]`.

Example:
    y = torch.matmul(x, w)
    bias_kernel[grid](y, b)
    return y

Use instead:
    Multiply in the kernel with `tl.dot`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kengine.lint.flow import find_flow, weight_names
from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

from kengine_triton.lint.kernels import find_kernels

_WORK = frozenset({
    "matmul", "mm", "bmm", "addmm", "baddbmm", "einsum", "tensordot", "inner", "mv", "addmv", "chain_matmul", "linear",
    "bilinear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "convolution",
    "scaled_dot_product_attention", "multi_head_attention_forward", "_scaled_mm", "_int_mm", "cdist", "multi_dot",
    "addbmm", "kron", "ger", "outer",
})  # fmt: skip
_METHODS = frozenset({"matmul", "mm", "bmm", "addmm", "baddbmm", "__matmul__", "mv"})


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at calls and at the operator @ outside of kernels and constructors."""
    bodies = find_kernels(source).bodies
    known = {work.node for work in find_flow(source, weight_names(context.task.source)).works}
    for node in source.nodes:
        if node in bodies or node in known or node not in source.reached:
            continue
        if getattr(source.function_of(node), "name", "") == "__init__":
            continue
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            if not context.allows("aten::mm", "aten::matmul", "torch.matmul"):
                yield hit(node, "the operator @ multiplies matrices outside of the kernel")
        elif isinstance(node, ast.Call):
            names = [n for n in source.resolve(node.func) if n.startswith("torch.") and n.rpartition(".")[2] in _WORK]
            method = node.func.attr if isinstance(node.func, ast.Attribute) and not names else ""
            found = names[0] if names else (f"Tensor.{method}" if method in _METHODS else "")
            last = found.rpartition(".")[2]
            if found and not context.allows(found, f"aten::{last}", f"torch.{last}"):
                yield hit(node, f"{found} does the work outside of the kernel")


RULE = Rule("KT108", "framework-product", "warn", check, __doc__)
