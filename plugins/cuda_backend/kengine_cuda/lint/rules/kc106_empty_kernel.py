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

from collections.abc import Iterator

from kengine.lint.cpp.sources import find_native
from kengine.lint.cpp.strength import writes
from kengine.lint.rule import Context, Hit, Rule
from kengine.lint.source import SourceTree


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at all kernels together."""
    kernels = find_native(source).kernels
    if kernels and not any(writes(cpp.unit, kernel) for cpp, kernel in kernels):
        cpp, kernel = kernels[0]
        yield cpp.hit(kernel.head, f"kernel {kernel.name!r} writes nothing, and no other kernel does", "reject")


RULE = Rule("KC106", "empty-kernel", "reject", check, __doc__, languages=("python", "cuda"))
