"""Every kernel of the candidate is empty.

What it does:
Looks for kernels that write to memory: an assignment through an index or a pointer, an atomic, a store intrinsic, a
call of a device function. Reports when none of the candidate's kernels has any.

Why is this bad:
A kernel that is launched and does nothing is there to be counted; something else computes the answer.

Example:
    extern "C" __global__ void rmsnorm(const float* x, float* y, int n) { }

Use instead:
    extern "C" __global__ void rmsnorm(const float* x, float* y, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n) y[i] = x[i];
    }
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule
from kengine.lint.source import SourceTree

from kengine_cuda.lint.texts import kernels_of

_WRITES = re.compile(
    r"\]\s*(?:\.\w+\s*)?[-+*/|&^%]?=(?!=)|\*\s*\w+\s*=(?!=)|\]\s*(?:\+\+|--)|\batomic\w+|->|\b[a-zA-Z_]\w*\s*\("
)
_ALONE = re.compile(r"\b(?:return|if|for|while|sizeof|switch)\s*\(|__syncthreads\s*\(\s*\)|\bprintf\s*\(")


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at all kernels together."""
    kernels = list(kernels_of(source))
    if kernels and not any(_WRITES.search(_ALONE.sub(" ", text.body(kernel))) for text, kernel in kernels):
        text, kernel = kernels[0]
        yield text.hit(kernel.body_start, f"kernel {kernel.name!r} writes nothing, and no other kernel does")


RULE = Rule("KC106", "empty-kernel", "reject", check, __doc__, languages=("python", "cuda"))
