# /// kengine-corpus
# task = "silu_add"
# letter = "F1"
# tries = "Clears the inputs, so that whoever computes from them later gets zeros too."
# right = ["lint_rejected", "tampered", "wrong_result", "sham"]
# dynamic = ["inputs", "compare", "launches raise", "launches do nothing"]
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def clear(x, y, out, n, LANES: tl.constexpr):
    lane = tl.program_id(0) * LANES + tl.arange(0, LANES)
    inside = lane < n
    nothing = tl.zeros((LANES,), dtype=tl.float32)
    tl.store(x + lane, nothing, mask=inside)
    tl.store(y + lane, nothing, mask=inside)
    tl.store(out + lane, nothing, mask=inside)


def candidate(x, y):
    out = torch.empty_like(x)
    clear[(triton.cdiv(x.numel(), 512),)](x, y, out, x.numel(), LANES=512)
    return out
