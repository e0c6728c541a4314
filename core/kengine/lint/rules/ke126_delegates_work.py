"""Operators of the framework compute on activations what the kernel should.

What it does:
Walks the code from the entry and follows tensors into what is returned: through helpers, closures, layers, aliases,
names put together from pieces, custom operators and kernels. Products, convolutions, attention and recurrent layers on
activations are rejected when no kernel of the candidate could do any part of a product; norms, losses and arithmetic
when all its kernels only copy. Everything else of the kind is a warning. Parameters may be folded with each other, and
whatever makes, arranges, pads or casts tensors is fine.

Why is this bad:
A kernel that copies the result of `torch.matmul` is `torch.matmul`. A task may permit operators: `allow =
["aten::mm"]`.

Example:
    def candidate(x, w):
        t = x @ w
        y = torch.empty_like(t)
        copy_kernel[grid](t, y, t.numel(), BLOCK=1024)
        return y

Use instead:
    def candidate(x, w):
        y = torch.empty(x.shape[0], w.shape[1], device=x.device, dtype=x.dtype)
        matmul_kernel[grid](x, w, y, *x.shape, w.shape[1], BLOCK_M=64, BLOCK_N=64, BLOCK_K=32)
        return y
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kengine.lint.copies import may_multiply, only_copies
from kengine.lint.cpp import strength
from kengine.lint.cpp.sources import find_native
from kengine.lint.flow import find_flow, weight_names
from kengine.lint.flow_values import Work
from kengine.lint.launch import builds_code
from kengine.lint.operators import spellings
from kengine.lint.rule import Context, Hit, Rule, Severity, hit
from kengine.lint.source import SourceTree


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Judge every operator that went into the result by what the candidate's kernels do."""
    flow = find_flow(source, weight_names(context.task.source))
    if not flow.launches and not find_native(source).kernels:
        return  # KE102 and the packs' never-launched rules
    multiplies, copies = _power(source)
    for work in flow.works:
        if context.allows(work.operator, *spellings(work.bare)):
            continue
        severity: Severity = "warn"
        plain = work.operator in ("add", "neg")  # + - * / on what may be indices
        # Where nothing returned comes from a kernel, a run with launches that do nothing is proof: see KE103.
        certain = flow.complete and not flow.bypassed and not builds_code(source)
        if certain and ((work.weight == "product" and not multiplies) or (copies and not plain)):
            severity = "reject"
        if work.weight == "arithmetic" and severity == "warn":
            continue
        yield hit(work.node, _message(work, severity), severity)


def _message(work: Work, severity: Severity) -> str:
    name = work.operator if "." in work.operator else {"matmul": "the operator @"}.get(work.operator, work.operator)
    if severity == "reject":
        return f"{name} computes on activations what no kernel here does; compute it in a kernel"
    return f"{name} does part of the work outside of the kernels"


def _power(source: SourceTree) -> tuple[bool, bool]:
    """(whether a kernel may hold part of a product, whether all kernels only copy) over the kernels that are seen."""
    native = find_native(source)
    kernels = [
        node
        for node in source.nodes
        if isinstance(node, ast.FunctionDef)
        and node in source.reached
        and node.decorator_list
        and _is_kernel(source, node)
    ]
    if not kernels and not native.kernels:
        return True, False
    multiplies = any(map(may_multiply, kernels)) or any(strength.may_multiply(c.unit, k) for c, k in native.kernels)
    copies = all(only_copies(source, k) for k in kernels) and all(
        strength.only_copies(c.unit, k) or not strength.writes(c.unit, k) for c, k in native.kernels
    )
    return multiplies, copies


def _is_kernel(source: SourceTree, node: ast.FunctionDef) -> bool:
    names = {n for d in node.decorator_list for n in source.resolve(d.func if isinstance(d, ast.Call) else d)}
    return any(n.rpartition(".")[2] in ("jit", "kernel", "autotune", "heuristics", "trace", "baremetal") for n in names)


RULE = Rule("KE126", "delegates-work", "reject", check, __doc__, main_only=True)
