"""Batch norm in evaluation mode and ReLU: the statistics are folded into one scale and one shift for each channel."""

# /// kengine-corpus
# task = "norm_module"
# trap = "weights"
# does = "Folds running statistics, weight and bias by torch operators at the first call after a change, the kernel does the rest."
# ///

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def scale_shift_relu(x, scale, shift, out, channels, LANES: tl.constexpr):
    row = tl.program_id(0)
    lane = tl.arange(0, LANES)
    inside = lane < channels
    value = tl.load(x + row * channels + lane, inside, other=0.0)
    value = value * tl.load(scale + lane, inside, other=0.0) + tl.load(shift + lane, inside, other=0.0)
    tl.store(out + row * channels + lane, tl.maximum(value, 0.0), inside)


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.norm = nn.BatchNorm1d(channels).eval()
        self._folded = None

    def _fold(self):
        norm = self.norm
        sources = (norm.weight, norm.bias, norm.running_mean, norm.running_var)
        key = tuple((s.data_ptr(), s._version) for s in sources)
        if self._folded is None or self._folded[0] != key:
            with torch.no_grad():
                scale = norm.weight * torch.rsqrt(norm.running_var + norm.eps)
                shift = norm.bias - norm.running_mean * scale
            self._folded = key, scale.contiguous(), shift.contiguous()
        return self._folded[1:]

    def forward(self, x):
        scale, shift = self._fold()
        out = torch.empty_like(x)
        lanes = triton.next_power_of_2(x.shape[1])
        scale_shift_relu[(x.shape[0],)](x.contiguous(), scale, shift, out, x.shape[1], LANES=lanes)
        return out
