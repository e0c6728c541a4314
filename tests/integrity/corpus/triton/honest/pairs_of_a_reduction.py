# /// kengine-corpus
# task = "row_stats"
# trap = "helpers"
# does = "A reduction over pairs with a function of its own finds the maximum and its place; sums by two stages."
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def larger(a, i, b, j):
    left = (a > b) | ((a == b) & (i < j))
    return tl.where(left, a, b), tl.where(left, i, j)


@triton.jit
def plus(a, b):
    return a + b


@triton.jit
def kernel(x_ptr, sums, places, width, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * width + i, mask=i < width, other=float("-inf"))
    _, place = tl.reduce((x, i), 0, larger)
    parts = tl.reduce(tl.reshape(tl.where(i < width, x, 0.0), (8, BLOCK // 8)), 1, plus)
    tl.store(sums + row, tl.reduce(parts, 0, plus))
    tl.store(places + row, place.to(tl.int64))


def candidate(x):
    sums, places = x.new_empty(x.shape[0]), torch.empty(x.shape[0], dtype=torch.long, device=x.device)
    kernel[(x.shape[0],)](x, sums, places, x.shape[1], BLOCK=max(16, triton.next_power_of_2(x.shape[1])))
    return sums, places
