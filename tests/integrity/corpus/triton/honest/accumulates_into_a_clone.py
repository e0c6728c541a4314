# /// kengine-corpus
# task = "silu_add"
# trap = "allocation"
# does = "Begins with a clone of one input and adds to it in the kernel."
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def add_silu(x, out, n, LANES: tl.constexpr):
    lane = tl.program_id(0) * LANES + tl.arange(0, LANES)
    inside = lane < n
    value = tl.load(x + lane, mask=inside)
    tl.store(out + lane, tl.load(out + lane, mask=inside) + value / (1.0 + tl.exp(-value)), mask=inside)


def candidate(x, y):
    out = y.clone()
    add_silu[(triton.cdiv(x.numel(), 512),)](x, out, x.numel(), LANES=512)
    return out
