# /// kengine-corpus
# task = "row_softmax"
# trap = "imports"
# does = "Asserts what it needs and raises for what it does not support."
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


class Unsupported(ValueError):
    pass


def candidate(x):
    assert x.ndim == 2, "expects a matrix"
    assert x.dtype in (torch.float16, torch.bfloat16, torch.float32)
    if not x.is_contiguous():
        raise Unsupported("rows must be contiguous")
    with torch.no_grad(), torch.inference_mode():
        y = torch.empty_like(x)
        softmax_rows[(x.shape[0],)](x, y, x.shape[1], LANES=triton.next_power_of_2(x.shape[1]))
    return y
