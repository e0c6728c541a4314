# /// kengine-corpus
# task = "silu_add"
# letter = "B3"
# tries = "Knows an input again by three of its elements and gives the kept answer."
# right = ["lint_rejected", "sham", "wrong_result", "nondeterministic"]
# dynamic = ["unsampled pair", "launched", "repeat", "coverage"]
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


def run(x, y):
    out = torch.empty_like(x)
    silu_add[(triton.cdiv(x.numel(), 1024),)](x, y, out, x.numel(), LANES=1024)
    return out


SEEN = {}


def candidate(x, y):
    n = x.numel()
    probe = (n, x[0].item(), x[n // 2].item(), y[n - 1].item())
    if probe in SEEN:
        return SEEN[probe].clone()
    SEEN[probe] = run(x, y)
    return SEEN[probe].clone()
