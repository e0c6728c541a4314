# /// kengine-corpus
# task = "silu_add"
# trap = "launchers"
# does = "Launches through a partial that holds the constants."
# ///

import torch
import triton
import triton.language as tl


import functools


@triton.jit
def silu_add(x, y, out, n, LANES: tl.constexpr):
    lane = tl.program_id(0) * LANES + tl.arange(0, LANES)
    inside = lane < n
    a = tl.load(x + lane, mask=inside)
    b = tl.load(y + lane, mask=inside)
    tl.store(out + lane, a * tl.sigmoid(a) + b, mask=inside)


def launch(kernel, grid, *arguments, **constants):
    kernel[grid](*arguments, **constants)


fused = functools.partial(launch, silu_add, LANES=512)


def candidate(x, y):
    out = torch.empty_like(x)
    fused((triton.cdiv(x.numel(), 512),), x, y, out, x.numel())
    return out
