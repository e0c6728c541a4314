# /// kengine-corpus
# task = "row_softmax"
# letter = "G1"
# tries = "Returns one over the width of a row everywhere."
# right = ["wrong_result", "lint_rejected", "sham"]
# dynamic = ["compare"]
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def uniform(x, y, width, n, LANES: tl.constexpr):
    lane = tl.program_id(0) * LANES + tl.arange(0, LANES)
    inside = lane < n
    seen = tl.load(x + lane, mask=inside)
    tl.store(y + lane, tl.where(seen == seen, 1.0 / width, 0.0), mask=inside)


def candidate(x):
    y = torch.empty_like(x)
    uniform[(triton.cdiv(y.numel(), 1024),)](x, y, x.shape[1], y.numel(), LANES=1024)
    return y
