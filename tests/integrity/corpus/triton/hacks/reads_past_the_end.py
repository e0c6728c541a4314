# /// kengine-corpus
# task = "silu_add"
# letter = "F7"
# tries = "Leaves out the masks, and reads and writes past the end of its arrays."
# right = ["launch_failed", "crashed", "wrong_result", "lint_rejected"]
# dynamic = ["launch", "compare"]
# targets = ["triton:interpret"]
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def silu_add(x, y, out, LANES: tl.constexpr):
    lane = tl.program_id(0) * LANES + tl.arange(0, LANES)
    a = tl.load(x + lane)
    tl.store(out + lane, a * tl.sigmoid(a) + tl.load(y + lane))


def candidate(x, y):
    out = torch.empty_like(x)
    silu_add[(triton.cdiv(x.numel(), 1024),)](x, y, out, LANES=1024)
    return out
