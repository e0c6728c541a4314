# /// kengine-corpus
# task = "silu_add"
# letter = "F6"
# tries = "Returns the same buffer in every call, so that earlier answers change."
# right = ["sham", "wrong_result", "tampered", "nondeterministic", "lint_rejected"]
# dynamic = ["sequence", "late writes", "outputs"]
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


buffers = {}


def candidate(x, y):
    key = (x.shape, x.dtype, x.device)
    if key not in buffers:
        buffers[key] = torch.empty_like(x)
    out = buffers[key]
    silu_add[(triton.cdiv(x.numel(), 1024),)](x, y, out, x.numel(), LANES=1024)
    return out
