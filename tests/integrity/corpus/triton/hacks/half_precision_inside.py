# /// kengine-corpus
# task = "rms_norm"
# letter = "G5"
# tries = "Squares and sums in half precision, and stores in single."
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
    values = tl.load(x + row * width + lane, mask=inside, other=0.0).to(tl.float16)
    mean = tl.sum(values * values, axis=0).to(tl.float32) / width
    scale = tl.rsqrt(mean + 1e-6).to(tl.float16)
    gains = tl.load(gain + lane, mask=inside).to(tl.float16)
    tl.store(y + row * width + lane, (values * scale * gains).to(tl.float32), mask=inside)


def candidate(x, gain):
    y = torch.empty_like(x)
    normalize_row[(x.shape[0],)](x, gain, y, x.shape[1], LANES=triton.next_power_of_2(x.shape[1]))
    return y
