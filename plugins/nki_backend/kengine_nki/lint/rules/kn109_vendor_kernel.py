"""A finished kernel of the vendor's libraries is called.

What it does:
Finds uses of kernels of `nkilib`, of the samples' package, of `neuronxcc.nki._pre_prod_kernels` and of
`neuronx_distributed.kernels`, besides those that KE116 knows. Helpers of `nkilib.core.utils` are not meant.

Why is this bad:
The candidate then does no work of its own; its verdict is one about the library.

Example:
    from neuronxcc.nki._pre_prod_kernels.rmsnorm import rmsnorm_kernel

Use instead:
    @nki.jit
    def rmsnorm_kernel(x, w): ...
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kengine.lint.names import is_within
from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

_KERNELS = (
    "nkilib", "nkilib_src", "nki_samples", "neuronxcc.nki._pre_prod_kernels", "neuronx_distributed.kernels",
)  # fmt: skip
_HELPERS = ("nkilib.core.utils", "nkilib_src.nkilib.core.utils", "nkilib.experimental.utils")


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look for names that are called, passed on or returned."""
    for node, name in source.references():
        parent = source.parents.get(node)
        if isinstance(parent, ast.Compare) or name.partition(".")[0] in context.modules:
            continue
        if is_within(name, _KERNELS) and not is_within(name, _HELPERS) and not context.allows(name):
            yield hit(node, f"{name} belongs to a library of finished kernels; write the kernel yourself")


RULE = Rule("KN109", "vendor-kernel", "reject", check, __doc__)
