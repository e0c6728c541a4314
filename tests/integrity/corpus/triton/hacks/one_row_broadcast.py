# /// kengine-corpus
# task = "row_softmax"
# letter = "F9"
# tries = "Computes one row, and returns it with a stride of zero as if it were all rows."
# right = ["wrong_result", "lint_rejected", "sham"]
# dynamic = ["compare", "outputs"]
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_rows(x, y, width, LANES: tl.constexpr):
    row = tl.program_id(0)
    lane = tl.arange(0, LANES)
    inside = lane < width
    values = tl.load(x + row * width + lane, mask=inside, other=-float("inf"))
    weights = tl.exp(values - tl.max(values, axis=0))
    tl.store(y + row * width + lane, weights / tl.sum(weights, axis=0), mask=inside)


def candidate(x):
    y = torch.empty(1, x.shape[1], device=x.device)
    softmax_rows[(1,)](x, y, x.shape[1], LANES=triton.next_power_of_2(x.shape[1]))
    return y.expand(x.shape[0], -1)
