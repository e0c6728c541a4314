# /// kengine-corpus
# task = "silu_add"
# letter = "G6"
# tries = "Takes a rational function for the sigmoid."
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
    half = a * 0.5
    square = half * half
    tanh = half * (27.0 + square) / (27.0 + 9.0 * square)
    gate = 0.5 + 0.5 * tl.minimum(tl.maximum(tanh, -1.0), 1.0)
    tl.store(out + lane, a * gate + tl.load(y + lane, mask=inside), mask=inside)


def candidate(x, y):
    out = torch.empty_like(x)
    silu_add[(triton.cdiv(x.numel(), 512),)](x, y, out, x.numel(), LANES=512)
    return out
