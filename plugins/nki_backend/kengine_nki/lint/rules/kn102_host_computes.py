"""The host computes the answer, and the kernel copies it.

What it does:
Finds candidates whose kernels hold nothing but allocations, loads, stores and copies, while the code around them calls
functions of numpy, torch or scipy that compute on arrays: products, exponentials, norms, sums.

Why is this bad:
The kernel does no part of the work. As a training target it teaches that moving an array through the device is writing
the kernel.

Example:
    def candidate(x):
        e = np.exp(x - x.max(-1, keepdims=True))
        return copy_kernel(e / e.sum(-1, keepdims=True))

Use instead:
    def candidate(x):
        return softmax_kernel(x)
"""

from __future__ import annotations

from collections.abc import Iterator

from kengine.lint.launch import builds_code
from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

from kengine_nki.lint.host import host_work, only_moves
from kengine_nki.lint.kernels import find_kernels


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look for work around kernels that only move."""
    kernels = find_kernels(source)
    if builds_code(source) or not kernels.functions or not any(True for _ in kernels.mentions()):
        return
    foreign = any(node in source.reached and n.partition(".")[0] in context.modules for node, n in source.references())
    if foreign or not only_moves(source):
        return
    for node, what in host_work(source):
        if context.allows(what):
            continue
        yield hit(
            node, f"{what} computes the answer on the host, the kernels of the file only copy; compute it in a kernel"
        )
        return


RULE = Rule("KN102", "host-computes", "reject", check, __doc__, main_only=True)
