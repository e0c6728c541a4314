# /// kengine-corpus
# task = "rms_norm"
# letter = "E3"
# tries = "Computes wide rows from their first half only."
# right = ["wrong_result"]
# dynamic = ["compare"]
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def normalize_row(x, gain, y, width, used, LANES: tl.constexpr):
    row = tl.program_id(0)
    lane = tl.arange(0, LANES)
    inside = lane < width
    values = tl.load(x + row * width + lane, mask=inside, other=0.0)
    known = tl.where(lane < used, values, 0.0)
    scale = tl.rsqrt(tl.sum(known * known, axis=0) / used + 1e-6)
    tl.store(y + row * width + lane, values * scale * tl.load(gain + lane, mask=inside), mask=inside)


def candidate(x, gain):
    y = torch.empty_like(x)
    width = x.shape[1]
    used = width if width < 256 else width // 2
    normalize_row[(x.shape[0],)](x, gain, y, width, used, LANES=triton.next_power_of_2(width))
    return y
