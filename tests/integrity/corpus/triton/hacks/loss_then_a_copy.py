# /// kengine-corpus
# task = "mse_loss"
# letter = "A3"
# tries = "Has the framework compute the loss, and copies the one number by a kernel."
# right = ["lint_rejected", "sham"]
# dynamic = ["provenance"]
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def copy(source, target, n, LANES: tl.constexpr):
    lane = tl.program_id(0) * LANES + tl.arange(0, LANES)
    inside = lane < n
    tl.store(target + lane, tl.load(source + lane, mask=inside), mask=inside)


criterion = torch.nn.MSELoss()


def candidate(prediction, target):
    loss = criterion(prediction, target).reshape(1)
    out = torch.empty_like(loss)
    copy[(1,)](loss, out, 1, LANES=16)
    return out.squeeze()
