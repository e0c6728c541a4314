# /// kengine-corpus
# task = "rms_norm"
# letter = "G3"
# tries = "Estimates the mean square from every second element."
# right = ["wrong_result"]
# dynamic = ["compare"]
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
    sample = tl.where(lane % 2 == 0, values, 0.0)
    scale = tl.rsqrt(2.0 * tl.sum(sample * sample, axis=0) / width + 1e-6)
    tl.store(y + row * width + lane, values * scale * tl.load(gain + lane, mask=inside), mask=inside)


def candidate(x, gain):
    y = torch.empty_like(x)
    normalize_row[(x.shape[0],)](x, gain, y, x.shape[1], LANES=triton.next_power_of_2(x.shape[1]))
    return y
