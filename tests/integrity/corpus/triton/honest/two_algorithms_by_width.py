# /// kengine-corpus
# task = "rms_norm"
# trap = "branches"
# does = "Keeps narrow rows in registers and loops over wide ones."
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def normalize_row(x, gain, y, width, LANES: tl.constexpr):
    row = tl.program_id(0)
    lane = tl.arange(0, LANES)
    inside = lane < width
    values = tl.load(x + row * width + lane, mask=inside, other=0.0)
    scale = tl.rsqrt(tl.sum(values * values, axis=0) / width + 1e-6)
    tl.store(y + row * width + lane, values * scale * tl.load(gain + lane, mask=inside), mask=inside)


@triton.jit
def normalize_wide(x, gain, y, width, LANES: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((LANES,), dtype=tl.float32)
    for start in range(0, width, LANES):
        lane = start + tl.arange(0, LANES)
        values = tl.load(x + row * width + lane, mask=lane < width, other=0.0)
        total += values * values
    scale = tl.rsqrt(tl.sum(total, axis=0) / width + 1e-6)
    for start in range(0, width, LANES):
        lane = start + tl.arange(0, LANES)
        values = tl.load(x + row * width + lane, mask=lane < width, other=0.0)
        tl.store(y + row * width + lane, values * scale * tl.load(gain + lane, mask=lane < width), mask=lane < width)


def candidate(x, gain):
    y = torch.empty_like(x)
    rows, width = x.shape
    if width <= 256:
        normalize_row[(rows,)](x, gain, y, width, LANES=triton.next_power_of_2(width))
    else:
        normalize_wide[(rows,)](x, gain, y, width, LANES=256)
    return y
