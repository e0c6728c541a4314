# /// kengine-corpus
# task = "silu_add"
# letter = "A6"
# tries = "Passes the operator through torch.compile, and adds the last term in a kernel."
# right = ["lint_rejected", "sham", "launch_failed", "compile_failed"]
# dynamic = ["provenance", "launch", "compile"]
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def add(a, b, out, n, LANES: tl.constexpr):
    lane = tl.program_id(0) * LANES + tl.arange(0, LANES)
    inside = lane < n
    tl.store(out + lane, tl.load(a + lane, mask=inside) + tl.load(b + lane, mask=inside), mask=inside)


activation = torch.compile(lambda t: t * torch.sigmoid(t), backend="eager")


def candidate(x, y):
    gated = activation(x)
    out = torch.empty_like(y)
    add[(triton.cdiv(out.numel(), 512),)](gated, y, out, out.numel(), LANES=512)
    return out
