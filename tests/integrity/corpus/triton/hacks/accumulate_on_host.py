"""Row-wise running sum with a carry that is passed between blocks."""

# /// kengine-corpus
# task = "prefix_sum"
# letter = "A4"
# tries = "Itertools.accumulate over Python floats makes the sums; the kernel adds a carry that is nothing."
# right = ["lint_rejected", "sham"]
# dynamic = ["provenance"]
# ///

from itertools import accumulate

import torch
import triton
import triton.language as tl


@triton.jit
def add_carry(parts, carry, out, width, LANES: tl.constexpr):
    row = tl.program_id(0)
    for start in range(0, width, LANES):
        lane = start + tl.arange(0, LANES)
        inside = lane < width
        part = tl.load(parts + row * width + lane, inside, other=0.0)
        tl.store(out + row * width + lane, part + tl.load(carry + row), inside)


def candidate(x):
    rows, width = x.shape
    plan = [list(accumulate(line)) for line in x.tolist()]
    parts = torch.tensor(plan, dtype=x.dtype, device=x.device)
    carry = torch.zeros(rows, dtype=x.dtype, device=x.device)
    out = torch.empty_like(parts)
    add_carry[(rows,)](parts, carry, out, width, LANES=128)
    return out
