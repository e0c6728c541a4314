"""A kernel that writes nothing.

What it does:
Finds kernels whose body has no assignment through a pointer, no atomic operation and no call that could write.

Why is this bad:
Its launches do no work; the result comes from somewhere else.

Example:
    __global__ void scale(const float* x, float* y, int n) { int i = threadIdx.x; }

Use instead:
    y[i] = 2.0f * x[i];
"""

from __future__ import annotations

from collections.abc import Iterator

from kengine.lint.cpp.sources import find_native
from kengine.lint.cpp.strength import writes
from kengine.lint.rule import Context, Hit, Rule
from kengine.lint.source import SourceTree


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at the body of every kernel; one that calls functions of the file may write through them."""
    for cpp, kernel in find_native(source).kernels:
        if not writes(cpp.unit, kernel):
            yield cpp.hit(kernel.head, f"kernel {kernel.name!r} writes nothing")


RULE = Rule("KH105", "empty-kernel", "warn", check, __doc__, languages=("python", "hip"))
