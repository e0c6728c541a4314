# /// kengine-corpus
# task = "silu_add"
# trap = "pointers"
# does = "Looks at the alignment of its pointers to choose the block."
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
    out = torch.empty_like(x)
    aligned = all(t.data_ptr() % 16 == 0 for t in (x, y, out))
    lanes = 1024 if aligned else 256
    silu_add[(triton.cdiv(x.numel(), lanes),)](x, y, out, x.numel(), LANES=lanes)
    return out
