# /// kengine-corpus
# task = "row_softmax"
# trap = "branches"
# does = "A first kernel finds whether any element is large; only then does a flag have maxima subtracted."
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def is_large(x, found, total, LANES: tl.constexpr):
    lane = tl.program_id(0) * LANES + tl.arange(0, LANES)
    values = tl.load(x + lane, mask=lane < total, other=0.0)
    tl.atomic_max(found, tl.max((tl.abs(values) > 20.0).to(tl.int32), axis=0))


@triton.jit
def softmax(x, out, width, SHIFTED: tl.constexpr, LANES: tl.constexpr):
    row = tl.program_id(0)
    lane = tl.arange(0, LANES)
    values = tl.load(x + row * width + lane, mask=lane < width, other=float("-inf"))
    if SHIFTED:
        values -= tl.max(values, axis=0)
    power = tl.exp(values)
    tl.store(out + row * width + lane, power / tl.sum(power, axis=0), mask=lane < width)


def candidate(x):
    out = torch.empty_like(x)
    found = torch.zeros(1, dtype=torch.int32, device=x.device)
    is_large[(triton.cdiv(x.numel(), 1024),)](x, found, x.numel(), LANES=1024)
    width = x.shape[1]
    softmax[(x.shape[0],)](x, out, width, SHIFTED=bool(found.item()), LANES=triton.next_power_of_2(width))
    return out
