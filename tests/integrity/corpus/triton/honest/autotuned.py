# /// kengine-corpus
# task = "row_softmax"
# trap = "autotune"
# does = "Autotunes the number of warps, keyed on the width."
# ///

import torch
import triton
import triton.language as tl


@triton.autotune(configs=[triton.Config({}, num_warps=w) for w in (1, 2, 4)], key=["width"])
@triton.jit
def softmax_rows(x, y, width, LANES: tl.constexpr):
    row = tl.program_id(0)
    lane = tl.arange(0, LANES)
    inside = lane < width
    values = tl.load(x + row * width + lane, mask=inside, other=-float("inf"))
    weights = tl.exp(values - tl.max(values, axis=0))
    tl.store(y + row * width + lane, weights / tl.sum(weights, axis=0), mask=inside)


def candidate(x):
    y = torch.empty_like(x)
    softmax_rows[(x.shape[0],)](x, y, x.shape[1], LANES=triton.next_power_of_2(x.shape[1]))
    return y
