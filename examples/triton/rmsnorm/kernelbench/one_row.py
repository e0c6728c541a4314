"""ModelNew for model.py: the same parameter, and the kernel of ../one_row.py in forward."""

import torch
import triton
import triton.language as tl
from torch import nn


@triton.jit
def normalize_row(x, gain, y, width, x_step, x_unit, gain_unit, y_step, y_unit, eps, LANES: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    lane = tl.arange(0, LANES)
    inside = lane < width
    values = tl.load(x + row * x_step + lane * x_unit, mask=inside, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(values * values, axis=0) / width + eps)
    gains = tl.load(gain + lane * gain_unit, mask=inside, other=0.0).to(tl.float32)
    tl.store(y + row * y_step + lane * y_unit, (values * scale * gains).to(y.dtype.element_ty), mask=inside)


class ModelNew(nn.Module):
    def __init__(self, features, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(features))
        self.eps = eps

    def forward(self, x):
        y = torch.empty_like(x)
        rows, width = x.shape
        gain = self.weight
        normalize_row[(rows,)](
            x, gain, y, width, x.stride(0), x.stride(1), gain.stride(0), y.stride(0), y.stride(1), self.eps,
            LANES=triton.next_power_of_2(width),
        )
        return y
