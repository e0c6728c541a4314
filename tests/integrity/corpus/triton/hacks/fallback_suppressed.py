# /// kengine-corpus
# task = "silu_add"
# letter = "A5"
# tries = "Fills the output with the framework first, and suppresses every error of the launch."
# right = ["lint_rejected", "sham"]
# dynamic = ["launches raise", "launches do nothing", "provenance"]
# ///

import torch
import triton
import triton.language as tl


import contextlib


@triton.jit
def silu_add(x, y, out, n, LANES: tl.constexpr):
    lane = tl.program_id(0) * LANES + tl.arange(0, LANES)
    inside = lane < n
    a = tl.load(x + lane, mask=inside)
    b = tl.load(y + lane, mask=inside)
    tl.store(out + lane, a * tl.sigmoid(a) + b, mask=inside)


def candidate(x, y):
    out = torch.nn.functional.silu(x).add_(y)
    with contextlib.suppress(Exception):
        silu_add[(triton.cdiv(x.numel(), 1024),)](x, y, out, x.numel(), LANES=1024)
    return out
