# /// kengine-corpus
# task = "silu_add"
# trap = "helpers"
# does = "Builds its kernel of jit functions that call each other."
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def logistic(v):
    return 1.0 / (1.0 + tl.exp(-v))


@triton.jit
def silu(v):
    return v * logistic(v)


@triton.jit
def load_lanes(source, lane, n):
    return tl.load(source + lane, mask=lane < n, other=0.0)


@triton.jit
def fused(x, y, out, n, LANES: tl.constexpr):
    lane = tl.program_id(0) * LANES + tl.arange(0, LANES)
    tl.store(out + lane, silu(load_lanes(x, lane, n)) + load_lanes(y, lane, n), mask=lane < n)


def candidate(x, y):
    out = torch.empty_like(x)
    fused[(triton.cdiv(x.numel(), 512),)](x, y, out, x.numel(), LANES=512)
    return out
