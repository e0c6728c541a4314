# /// kengine-corpus
# task = "row_softmax"
# trap = "launchers"
# does = "Binds kernel and grid to a name, and calls that."
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


fused = softmax_rows


def candidate(x):
    y = torch.empty_like(x)
    launch = fused[x.shape[:1]]
    launch(x, y, x.shape[1], LANES=triton.next_power_of_2(x.shape[1]))
    return y
