# /// kengine-corpus
# task = "rms_norm"
# trap = "launchers"
# does = "Keeps its two kernels in a list and launches them in a loop."
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def row_scale(x, gain, scale, y, width, LANES: tl.constexpr):
    row = tl.program_id(0)
    lane = tl.arange(0, LANES)
    values = tl.load(x + row * width + lane, mask=lane < width, other=0.0)
    tl.store(scale + row, tl.rsqrt(tl.sum(values * values, axis=0) / width + 1e-6))


@triton.jit
def apply_scale(x, gain, scale, y, width, LANES: tl.constexpr):
    row = tl.program_id(0)
    lane = tl.arange(0, LANES)
    inside = lane < width
    values = tl.load(x + row * width + lane, mask=inside) * tl.load(scale + row)
    tl.store(y + row * width + lane, values * tl.load(gain + lane, mask=inside), mask=inside)


STEPS = [row_scale, apply_scale]


def candidate(x, gain):
    rows, width = x.shape
    scale, y = torch.empty(rows, device=x.device), torch.empty_like(x)
    for step in STEPS:
        step[(rows,)](x, gain, scale, y, width, LANES=triton.next_power_of_2(width))
    return y
