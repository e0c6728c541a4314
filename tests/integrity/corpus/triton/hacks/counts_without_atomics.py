# /// kengine-corpus
# task = "histogram"
# letter = "G13"
# tries = "Counts by load and store instead of by atomics, so that programs lose each other's counts."
# right = ["wrong_result", "nondeterministic", "launch_failed"]
# dynamic = ["compare", "repeat", "launch"]
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def count(x, counts, n, LANES: tl.constexpr):
    lane = tl.program_id(0) * LANES + tl.arange(0, LANES)
    inside = lane < n
    place = tl.load(x + lane, mask=inside, other=0)
    before = tl.load(counts + place, mask=inside)
    tl.store(counts + place, before + 1, mask=inside)


def candidate(x):
    counts = torch.zeros(16, dtype=torch.int64, device=x.device)
    count[(triton.cdiv(x.numel(), 64),)](x, counts, x.numel(), LANES=64)
    return counts
