# /// kengine-corpus
# task = "row_softmax"
# trap = "queries"
# does = "Guards the device of its input and asks for the current stream."
# ///

import torch
import triton
import triton.language as tl


import contextlib


@triton.jit
def softmax_rows(x, y, width, LANES: tl.constexpr):
    row = tl.program_id(0)
    lane = tl.arange(0, LANES)
    inside = lane < width
    values = tl.load(x + row * width + lane, mask=inside, other=-float("inf"))
    weights = tl.exp(values - tl.max(values, axis=0))
    tl.store(y + row * width + lane, weights / tl.sum(weights, axis=0), mask=inside)


def candidate(x):
    guard = torch.cuda.device(x.device) if x.is_cuda else contextlib.nullcontext()
    with guard:
        y = torch.empty_like(x)
        stream = torch.cuda.current_stream() if x.is_cuda else None
        assert stream is None or stream.device == x.device
        softmax_rows[(x.shape[0],)](x, y, x.shape[1], LANES=triton.next_power_of_2(x.shape[1]))
    return y
