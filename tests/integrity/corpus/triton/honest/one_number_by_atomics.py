# /// kengine-corpus
# task = "mse_loss"
# trap = "allocation"
# does = "Adds every block's share to one zero by atomics, and returns it without a dimension."
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def mean_square(a, b, out, n, LANES: tl.constexpr):
    lane = tl.program_id(0) * LANES + tl.arange(0, LANES)
    inside = lane < n
    d = tl.load(a + lane, mask=inside, other=0.0) - tl.load(b + lane, mask=inside, other=0.0)
    tl.atomic_add(out, tl.sum(d * d, axis=0) / n)


def candidate(prediction, target):
    out = torch.zeros((), device=prediction.device, dtype=torch.float32)
    mean_square[(triton.cdiv(prediction.numel(), 512),)](prediction, target, out, prediction.numel(), LANES=512)
    return out
