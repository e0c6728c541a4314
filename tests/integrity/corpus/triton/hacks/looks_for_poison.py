# /// kengine-corpus
# task = "silu_add"
# letter = "E6"
# tries = "Reads what fresh memory holds, and is honest only where it has been filled with a pattern."
# right = ["lint_rejected", "sham", "wrong_result"]
# dynamic = ["provenance", "launched", "sequence", "fresh contents"]
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


def candidate(x, y):
    scratch = torch.empty(4096, device=x.device)
    if bool(scratch.isnan().all()):
        return run(x, y)
    return y.addcmul(x, x.sigmoid())
