# /// kengine-corpus
# task = "norm_module"
# letter = "G4"
# tries = "Leaves out gain and bias, which are one and zero after construction."
# right = ["wrong_result", "launch_failed"]
# dynamic = ["compare", "launch"]
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def normalize(x, mean, var, y, n, width, eps, LANES: tl.constexpr):
    lane = tl.program_id(0) * LANES + tl.arange(0, LANES)
    inside = lane < n
    channel = lane % width
    centred = tl.load(x + lane, mask=inside) - tl.load(mean + channel, mask=inside)
    value = centred * tl.rsqrt(tl.load(var + channel, mask=inside) + eps)
    tl.store(y + lane, tl.maximum(value, 0.0), mask=inside)


class ModelNew(torch.nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(channels).eval()

    def forward(self, x):
        y = torch.empty_like(x)
        norm = self.norm
        normalize[(triton.cdiv(x.numel(), 256),)](
            x, norm.running_mean, norm.running_var, y, x.numel(), x.shape[1], norm.eps, LANES=256
        )
        return y
