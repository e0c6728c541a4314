# /// kengine-corpus
# task = "histogram"
# trap = "casts"
# does = "Counts by comparison in one program, in 32 bits, and widens the counts on return."
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def count(x, counts, n, LANES: tl.constexpr):
    bins = tl.arange(0, 16)
    total = tl.zeros((16,), dtype=tl.int32)
    for start in range(0, n, LANES):
        lane = start + tl.arange(0, LANES)
        value = tl.load(x + lane, mask=lane < n, other=-1).to(tl.int32)
        total += tl.sum((value[None, :] == bins[:, None]).to(tl.int32), axis=1)
    tl.store(counts + bins, total)


def candidate(x):
    counts = torch.empty(16, dtype=torch.int32, device=x.device)
    count[(1,)](x, counts, x.numel(), LANES=128)
    return counts.to(torch.int64)
