# /// kengine-corpus
# task = "row_softmax"
# letter = "A3"
# tries = "Lets the framework do maximum, exponential and sum, and only divides in a kernel."
# right = ["lint_rejected", "sham"]
# dynamic = ["provenance"]
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def divide_rows(weights, total, out, width, LANES: tl.constexpr):
    row = tl.program_id(0)
    lane = tl.arange(0, LANES)
    inside = lane < width
    value = tl.load(weights + row * width + lane, mask=inside) / tl.load(total + row)
    tl.store(out + row * width + lane, value, mask=inside)


def candidate(x):
    weights = (x - x.amax(-1, keepdim=True)).exp()
    total = weights.sum(-1)
    out = torch.empty_like(x)
    divide_rows[(x.shape[0],)](weights, total, out, x.shape[1], LANES=triton.next_power_of_2(x.shape[1]))
    return out
