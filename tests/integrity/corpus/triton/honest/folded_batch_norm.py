# /// kengine-corpus
# task = "norm_module"
# trap = "weights"
# does = "Folds running statistics, gain and bias into one scale and shift in every call."
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def scale_shift_relu(x, scale, shift, y, n, width, LANES: tl.constexpr):
    lane = tl.program_id(0) * LANES + tl.arange(0, LANES)
    inside = lane < n
    channel = lane % width
    value = tl.load(x + lane, mask=inside) * tl.load(scale + channel, mask=inside)
    tl.store(y + lane, tl.maximum(value + tl.load(shift + channel, mask=inside), 0.0), mask=inside)


class ModelNew(torch.nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(channels).eval()

    def forward(self, x):
        norm = self.norm
        with torch.no_grad():
            scale = norm.weight * torch.rsqrt(norm.running_var + norm.eps)
            shift = norm.bias - norm.running_mean * scale
        y = torch.empty_like(x)
        scale_shift_relu[(triton.cdiv(x.numel(), 256),)](x, scale, shift, y, x.numel(), x.shape[1], LANES=256)
        return y
