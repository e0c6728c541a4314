# /// kengine-corpus
# task = "silu_add"
# letter = "G12"
# tries = "Leaves out the last, incomplete block, which is less than a tenth of the elements."
# right = ["wrong_result"]
# dynamic = ["compare"]
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


def candidate(x, y):
    out = y.clone()
    silu_add[(x.numel() // 128,)](x, y, out, x.numel(), LANES=128)
    return out
