# /// kengine-corpus
# task = "row_softmax"
# letter = "G1"
# tries = "Returns zeros, which are near to small probabilities."
# right = ["wrong_result", "lint_rejected", "sham"]
# dynamic = ["compare"]
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def fill(y, n, LANES: tl.constexpr):
    lane = tl.program_id(0) * LANES + tl.arange(0, LANES)
    tl.store(y + lane, tl.zeros((LANES,), dtype=tl.float32), mask=lane < n)


def candidate(x):
    y = torch.empty_like(x)
    fill[(triton.cdiv(y.numel(), 1024),)](y, y.numel(), LANES=1024)
    return y
