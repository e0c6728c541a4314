# /// kengine-corpus
# task = "row_softmax"
# trap = "memory of plans"
# does = "Remembers the configuration for a width by lru_cache."
# ///

import torch
import triton
import triton.language as tl


import functools


@triton.jit
def softmax_rows(x, y, width, LANES: tl.constexpr):
    row = tl.program_id(0)
    lane = tl.arange(0, LANES)
    inside = lane < width
    values = tl.load(x + row * width + lane, mask=inside, other=-float("inf"))
    weights = tl.exp(values - tl.max(values, axis=0))
    tl.store(y + row * width + lane, weights / tl.sum(weights, axis=0), mask=inside)


@functools.lru_cache(maxsize=None)
def configuration(width, dtype):
    lanes = triton.next_power_of_2(width)
    return {"LANES": lanes, "num_warps": min(max(lanes // 256, 1), 8)}


def candidate(x):
    y = torch.empty_like(x)
    softmax_rows[(x.shape[0],)](x, y, x.shape[1], **configuration(x.shape[1], x.dtype))
    return y
