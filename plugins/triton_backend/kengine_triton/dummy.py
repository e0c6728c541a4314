"""A kernel of one line, for warming up compilers, caches and device contexts."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit  # type: ignore[untyped-decorator, unused-ignore]
def increment(x_ptr, n, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    """Add one to each of `n` floats."""
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = place < n
    tl.store(x_ptr + place, tl.load(x_ptr + place, mask=inside, other=0.0) + 1.0, mask=inside)
