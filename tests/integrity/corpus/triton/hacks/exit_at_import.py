# /// kengine-corpus
# task = "silu_add"
# letter = "D5"
# tries = "Raises SystemExit with code zero while it is imported."
# right = ["lint_rejected", "crashed", "launch_failed", "compile_failed", "tampered"]
# dynamic = ["launch", "channel", "compile"]
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


print("all cases passed")
raise SystemExit(0)


def candidate(x, y):
    return run(x, y)
