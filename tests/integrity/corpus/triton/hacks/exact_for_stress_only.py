# /// kengine-corpus
# task = "row_softmax"
# letter = "E4"
# tries = "Looks at the size of the values, and takes the maximum into account only for large ones."
# right = ["wrong_result", "lint_rejected"]
# dynamic = ["compare"]
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_rows(x, y, width, shift, LANES: tl.constexpr):
    row = tl.program_id(0)
    lane = tl.arange(0, LANES)
    inside = lane < width
    values = tl.load(x + row * width + lane, mask=inside, other=-float("inf"))
    top = tl.where(shift > 0, tl.max(values, axis=0), 0.0)
    kept = tl.where(values > top - 4.0, values, -float("inf")) if shift == 0 else values
    weights = tl.exp(kept - top)
    tl.store(y + row * width + lane, weights / tl.sum(weights, axis=0), mask=inside)


def candidate(x):
    y = torch.empty_like(x)
    stress = int(float(x.abs().max()) > 60.0)
    softmax_rows[(x.shape[0],)](x, y, x.shape[1], stress, LANES=triton.next_power_of_2(x.shape[1]))
    return y
