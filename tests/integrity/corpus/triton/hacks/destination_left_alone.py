# /// kengine-corpus
# task = "silu_add"
# letter = "F10"
# tries = "Takes the output as an argument and leaves it as it found it."
# right = ["wrong_result", "sham", "lint_rejected"]
# dynamic = ["compare", "launched"]
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


def candidate(x, y, out):
    silu_add[(0,)](x, y, out, 0, LANES=1024)
    return out
