# /// kengine-corpus
# task = "prefix_sum"
# trap = "helpers"
# does = "Gives a jit function to associative_scan, and carries the total from block to block."
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def add(a, b):
    return a + b


@triton.jit
def scan_row(x, y, width, LANES: tl.constexpr):
    row = tl.program_id(0)
    carried = 0.0
    for start in range(0, width, LANES):
        lane = start + tl.arange(0, LANES)
        inside = lane < width
        values = tl.load(x + row * width + lane, mask=inside, other=0.0)
        tl.store(y + row * width + lane, tl.associative_scan(values, 0, add) + carried, mask=inside)
        carried += tl.sum(values, axis=0)


def candidate(x):
    y = torch.empty_like(x)
    scan_row[(x.shape[0],)](x, y, x.shape[1], LANES=128)
    return y
