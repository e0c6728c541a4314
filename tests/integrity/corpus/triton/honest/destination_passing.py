# /// kengine-corpus
# task = "silu_add"
# trap = "destination"
# does = "Takes the output as a further argument and returns nothing."
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def silu_add(x, y, out, n, LANES: tl.constexpr):
    lane = tl.program_id(0) * LANES + tl.arange(0, LANES)
    inside = lane < n
    a = tl.load(x + lane, mask=inside)
    b = tl.load(y + lane, mask=inside)
    tl.store(out + lane, a * tl.sigmoid(a) + b, mask=inside)


def candidate(x, y, out):
    silu_add[(triton.cdiv(x.numel(), 512),)](x, y, out, x.numel(), LANES=512)
