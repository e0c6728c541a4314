"""A product, norm or sum over an array on the host stands beside the kernel.

What it does:
Finds matrix products, convolutions, softmax, norms, means and sorts of numpy, torch or scipy in code that the entry
reaches, outside of kernels and constructors. Padding, transposing and casting are not meant.

Why is this bad:
A kernel that adds the bias to a product of numpy leaves the work to numpy. It is a warning: folding parameters with
each other is honest. A task may permit a name: `allow = ["numpy.matmul"]`.

Example:
    return bias_kernel(np.matmul(x, w), b)

Use instead:
    return linear_kernel(x, w, b)  # with nisa.nc_matmul
"""

from __future__ import annotations

from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

from kengine_nki.lint.host import NORMS, PRODUCTS, host_work, only_moves
from kengine_nki.lint.kernels import find_kernels


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at calls and at the operator @ outside of kernels."""
    if not any(True for _ in find_kernels(source).mentions()) or only_moves(source):
        return  # KN101 and KN102
    for node, what in host_work(source, PRODUCTS | NORMS):
        if not context.allows(what):
            yield hit(node, f"{what} works on arrays on the host; do it in the kernel")


RULE = Rule("KN105", "host-work", "warn", check, __doc__, main_only=True)
