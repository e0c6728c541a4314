"""A kernel that writes no output, or only copies its input.

What it does:
Finds kernels that the entry uses and that hold nothing but allocations, loads, stores and copies.

Why is this bad:
The work is then done elsewhere, or not at all. It is a warning, since copies are tasks too.

Example:
    @nki.jit
    def kernel(x):
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        nisa.dma_copy(dst=out, src=x)
        return out

Use instead:
    Compute in the kernel what the task asks for.
"""

from __future__ import annotations

from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

from kengine_nki.lint.calls import find_calls
from kengine_nki.lint.host import only_moves
from kengine_nki.lint.kernels import find_kernels, own_nodes
from kengine_nki.lint.writes import written_names

_WRITERS = ("store", "dma_copy", "dma_compute", "dma_transpose", "tensor_copy", "atomic_rmw")


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at the kernels of files whose kernels do not compute."""
    if not only_moves(source):
        return
    kernels = find_kernels(source)
    writers = {c.node for c in find_calls(source) if c.member in _WRITERS}
    inner = {n for f in kernels.functions for n in own_nodes(f)}
    for kernel in kernels.functions:
        if kernel not in source.reached or kernel in inner:
            continue
        if any(n in writers for n in own_nodes(kernel)):
            yield hit(kernel, f"kernel {kernel.name!r} only copies; compute in it what the task asks for")
        elif not written_names(source, kernel):
            yield hit(kernel, f"kernel {kernel.name!r} writes nothing; copy its result to an nl.shared_hbm tensor")


RULE = Rule("KN106", "empty-kernel", "warn", check, __doc__)
