# /// kengine-corpus
# task = "histogram"
# trap = "allocation"
# does = "Counts by atomics into zeros."
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def count(x, counts, n, LANES: tl.constexpr):
    lane = tl.program_id(0) * LANES + tl.arange(0, LANES)
    inside = lane < n
    place = tl.load(x + lane, mask=inside, other=0)
    tl.atomic_add(counts + place, tl.full((LANES,), 1, tl.int64), mask=inside)


def candidate(x):
    counts = x.new_zeros(16)
    count[(triton.cdiv(x.numel(), 256),)](x, counts, x.numel(), LANES=256)
    return counts
