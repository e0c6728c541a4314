# /// kengine-corpus
# task = "row_softmax"
# trap = "several kernels"
# does = "Finds maximum and sum in one kernel, and divides in another."
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def statistics(x, tops, totals, width, LANES: tl.constexpr):
    row = tl.program_id(0)
    lane = tl.arange(0, LANES)
    values = tl.load(x + row * width + lane, mask=lane < width, other=-float("inf"))
    top = tl.max(values, axis=0)
    tl.store(tops + row, top)
    tl.store(totals + row, tl.sum(tl.exp(values - top), axis=0))


@triton.jit
def divide(x, tops, totals, y, n, width, LANES: tl.constexpr):
    lane = tl.program_id(0) * LANES + tl.arange(0, LANES)
    inside = lane < n
    row = lane // width
    weight = tl.exp(tl.load(x + lane, mask=inside) - tl.load(tops + row, mask=inside))
    tl.store(y + lane, weight / tl.load(totals + row, mask=inside), mask=inside)


def candidate(x):
    rows, width = x.shape
    tops, totals = torch.empty(2, rows, device=x.device).unbind()
    y = torch.empty_like(x)
    statistics[(rows,)](x, tops, totals, width, LANES=triton.next_power_of_2(width))
    divide[(triton.cdiv(x.numel(), 256),)](x, tops, totals, y, x.numel(), width, LANES=256)
    return y
