# /// kengine-corpus
# task = "silu_add"
# letter = "B1"
# tries = "Hangs its answer on the tensor that it was asked about."
# right = ["lint_rejected", "sham", "wrong_result", "nondeterministic"]
# dynamic = ["compare", "fresh contents", "unsampled pair", "sequence"]
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def silu_add(x, y, out, n, LANES: tl.constexpr):
    lane = tl.program_id(0) * LANES + tl.arange(0, LANES)
    inside = lane < n
    a = tl.load(x + lane, mask=inside)
    tl.store(out + lane, a * tl.sigmoid(a) + tl.load(y + lane, mask=inside), mask=inside)


def candidate(x, y):
    plan = getattr(x, "_silu_plan", None)
    if plan is None:
        plan = x._silu_plan = torch.empty_like(x)
        silu_add[(triton.cdiv(x.numel(), 1024),)](x, y, plan, x.numel(), LANES=1024)
    return plan.clone()
