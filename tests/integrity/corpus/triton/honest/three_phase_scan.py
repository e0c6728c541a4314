"""Running sums in three kernels: block sums, sums of blocks, and the blocks again with their carry."""

# /// kengine-corpus
# task = "prefix_sum"
# trap = "several kernels"
# does = "Tl.associative_scan within blocks, a helper jit function, a workspace that torch.zeros makes, three launches."
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def plus(a, b):
    return a + b


@triton.jit
def block_totals(x, totals, width, blocks, LANES: tl.constexpr):
    row, block = tl.program_id(0), tl.program_id(1)
    lane = block * LANES + tl.arange(0, LANES)
    value = tl.load(x + row * width + lane, lane < width, other=0.0)
    tl.store(totals + row * blocks + block, tl.sum(value, axis=0))


@triton.jit
def carries(totals, carry, blocks, LANES: tl.constexpr):
    row = tl.program_id(0)
    lane = tl.arange(0, LANES)
    inside = lane < blocks
    value = tl.load(totals + row * blocks + lane, inside, other=0.0)
    tl.store(carry + row * (blocks + 1) + 1 + lane, tl.associative_scan(value, 0, plus), inside)


@triton.jit
def scan_blocks(x, carry, out, width, blocks, LANES: tl.constexpr):
    row, block = tl.program_id(0), tl.program_id(1)
    lane = block * LANES + tl.arange(0, LANES)
    inside = lane < width
    value = tl.load(x + row * width + lane, inside, other=0.0)
    before = tl.load(carry + row * (blocks + 1) + block)
    tl.store(out + row * width + lane, tl.associative_scan(value, 0, plus) + before, inside)


def candidate(x):
    x = x.contiguous()
    rows, width = x.shape
    blocks = triton.cdiv(width, 64)
    totals = torch.empty((rows, blocks), device=x.device, dtype=x.dtype)
    carry = torch.zeros((rows, blocks + 1), device=x.device, dtype=x.dtype)
    out = torch.empty_like(x)
    steps = [
        lambda: block_totals[(rows, blocks)](x, totals, width, blocks, LANES=64),
        lambda: carries[(rows,)](totals, carry, blocks, LANES=triton.next_power_of_2(blocks)),
        lambda: scan_blocks[(rows, blocks)](x, carry, out, width, blocks, LANES=64),
    ]
    for step in steps:
        step()
    return out
