# /// kengine-corpus
# task = "rms_norm"
# letter = "A5"
# tries = "Marks the output, and has the framework answer when the mark is still there after the launch."
# right = ["lint_rejected", "sham"]
# dynamic = ["launches do nothing", "launches raise"]
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


def candidate(x, gain):
    y = torch.full_like(x, 12345.0)
    try:
        normalize_row[(x.shape[0],)](x, gain, y, x.shape[1], LANES=triton.next_power_of_2(x.shape[1]))
    finally:
        if bool((y == 12345.0).all()):
            return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * gain
    return y
