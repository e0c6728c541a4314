# /// kengine-corpus
# task = "rms_norm"
# trap = "helpers"
# does = "Keeps an older kernel in the file that nobody launches any more."
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def mean_square(x, out, width, LANES: tl.constexpr):
    """First version: two passes. Kept for comparison."""
    row = tl.program_id(0)
    lane = tl.arange(0, LANES)
    values = tl.load(x + row * width + lane, mask=lane < width, other=0.0)
    tl.store(out + row, tl.sum(values * values, axis=0) / width)


def two_passes(x, gain):
    out = torch.empty(x.shape[0], device=x.device)
    mean_square[(x.shape[0],)](x, out, x.shape[1], LANES=triton.next_power_of_2(x.shape[1]))
    return x * torch.rsqrt(out + 1e-6)[:, None] * gain


@triton.jit
def normalize_row(x, gain, y, width, LANES: tl.constexpr):
    row = tl.program_id(0)
    lane = tl.arange(0, LANES)
    inside = lane < width
    values = tl.load(x + row * width + lane, mask=inside, other=0.0)
    scale = tl.rsqrt(tl.sum(values * values, axis=0) / width + 1e-6)
    tl.store(y + row * width + lane, values * scale * tl.load(gain + lane, mask=inside), mask=inside)


def run(x, gain):
    y = torch.empty_like(x)
    normalize_row[(x.shape[0],)](x, gain, y, x.shape[1], LANES=triton.next_power_of_2(x.shape[1]))
    return y


def candidate(x, gain):
    return run(x, gain)
