# /// kengine-corpus
# task = "row_softmax"
# trap = "launchers"
# does = "Chooses between two kernels in a table by the width."
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


@triton.jit
def softmax_wide(x, y, width, LANES: tl.constexpr):
    row = tl.program_id(0)
    top = -float("inf")
    total = 0.0
    for start in range(0, width, LANES):
        lane = start + tl.arange(0, LANES)
        values = tl.load(x + row * width + lane, mask=lane < width, other=-float("inf"))
        new = tl.maximum(top, tl.max(values, axis=0))
        total = total * tl.exp(top - new) + tl.sum(tl.exp(values - new), axis=0)
        top = new
    for start in range(0, width, LANES):
        lane = start + tl.arange(0, LANES)
        values = tl.load(x + row * width + lane, mask=lane < width, other=-float("inf"))
        tl.store(y + row * width + lane, tl.exp(values - top) / total, mask=lane < width)


KERNELS = {"narrow": (softmax_rows, 256), "wide": (softmax_wide, 128)}


def candidate(x):
    y = torch.empty_like(x)
    kernel, lanes = KERNELS["narrow" if x.shape[1] <= 256 else "wide"]
    kernel[(x.shape[0],)](x, y, x.shape[1], LANES=lanes)
    return y
