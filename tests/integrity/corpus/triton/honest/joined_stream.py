# /// kengine-corpus
# task = "row_softmax"
# trap = "streams"
# does = "Works on a stream of its own, and joins it before it returns."
# device = true
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
    y = torch.empty_like(x)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        softmax_rows[(x.shape[0],)](x, y, x.shape[1], LANES=triton.next_power_of_2(x.shape[1]))
    torch.cuda.current_stream().wait_stream(side)
    y.record_stream(side)
    return y
