"""A kernel indexes by block and thread and never looks at the size.

What it does:
Finds kernels that compute an index from blockIdx, blockDim and threadIdx, and hold no condition and no loop.

Why is this bad:
Sizes are seldom multiples of the block: the last block then reads and writes outside of the arrays.

Example:
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i] * 2.0f;

Use instead:
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * 2.0f;
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule
from kengine.lint.source import SourceTree

from kengine_cuda.lint.texts import kernels_of

_INDEX = re.compile(r"blockIdx\.\w\s*\*\s*blockDim\.\w|blockDim\.\w\s*\*\s*blockIdx\.\w")
_GUARD = re.compile(r"\b(?:if|for|while|switch|min|fminf)\b|\?|&&")


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at each kernel."""
    for text, kernel in kernels_of(source):
        body = text.body(kernel)
        index = _INDEX.search(body)
        if index and not _GUARD.search(body) and "[" in body:
            message = f"kernel {kernel.name!r} never compares its index with the size"
            yield text.hit(kernel.body_start + 1 + index.start(), message)


RULE = Rule("KC103", "no-tail-guard", "warn", check, __doc__, languages=("python", "cuda"))
