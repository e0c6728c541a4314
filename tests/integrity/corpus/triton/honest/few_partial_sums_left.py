# /// kengine-corpus
# task = "mse_loss"
# trap = "several kernels"
# does = "Sums blocks in a kernel, and leaves the few partial sums to the framework."
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def squared_differences(a, b, parts, n, LANES: tl.constexpr):
    lane = tl.program_id(0) * LANES + tl.arange(0, LANES)
    inside = lane < n
    d = tl.load(a + lane, mask=inside, other=0.0) - tl.load(b + lane, mask=inside, other=0.0)
    tl.store(parts + tl.program_id(0), tl.sum(d * d, axis=0))


def candidate(prediction, target):
    n = prediction.numel()
    blocks = triton.cdiv(n, 512)
    parts = torch.empty(blocks, device=prediction.device)
    squared_differences[(blocks,)](prediction, target, parts, n, LANES=512)
    return parts.sum() / n
