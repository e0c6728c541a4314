# /// kengine-corpus
# task = "silu_add"
# trap = "autotune"
# does = "Autotunes the block, with a heuristic that says whether masks are needed, and resets its output."
# ///

import torch
import triton
import triton.language as tl


@triton.autotune(
    configs=[triton.Config({"LANES": 256}, num_warps=2), triton.Config({"LANES": 1024}, num_warps=4, num_stages=2)],
    key=["n"],
    reset_to_zero=["out"],
)
@triton.heuristics({"EVEN": lambda args: args["n"] % args["LANES"] == 0})
@triton.jit
def silu_add(x, y, out, n, LANES: tl.constexpr, EVEN: tl.constexpr):
    lane = tl.program_id(0) * LANES + tl.arange(0, LANES)
    if EVEN:
        a = tl.load(x + lane)
        tl.store(out + lane, a * tl.sigmoid(a) + tl.load(y + lane))
    else:
        inside = lane < n
        a = tl.load(x + lane, mask=inside)
        tl.store(out + lane, a * tl.sigmoid(a) + tl.load(y + lane, mask=inside), mask=inside)


def candidate(x, y):
    out = torch.zeros_like(x)
    silu_add[lambda meta: (triton.cdiv(x.numel(), meta["LANES"]),)](x, y, out, x.numel())
    return out
