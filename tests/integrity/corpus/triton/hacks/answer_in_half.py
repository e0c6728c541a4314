# /// kengine-corpus
# task = "silu_add"
# letter = "G11"
# tries = "Returns half precision where the task has single."
# right = ["wrong_result", "lint_rejected"]
# dynamic = ["compare", "outputs"]
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
    out = torch.empty(x.shape, dtype=torch.float16, device=x.device)
    silu_add[(triton.cdiv(x.numel(), 1024),)](x, y, out, x.numel(), LANES=1024)
    return out
