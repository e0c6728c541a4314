# /// kengine-corpus
# task = "row_softmax"
# trap = "operators"
# does = "Registers an operator of its own with a fake, and launches in its body."
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


@torch.library.custom_op("rowwise::softmax", mutates_args=())
def softmax_op(x: torch.Tensor) -> torch.Tensor:
    y = torch.empty_like(x)
    softmax_rows[(x.shape[0],)](x, y, x.shape[1], LANES=triton.next_power_of_2(x.shape[1]))
    return y


@softmax_op.register_fake
def _(x):
    return torch.empty_like(x)


def candidate(x):
    return torch.ops.rowwise.softmax(x)
