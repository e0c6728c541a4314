# /// kengine-corpus
# task = "rms_norm"
# trap = "views"
# does = "Makes the input contiguous, flattens leading dimensions, and reshapes the result back."
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
    shape = x.shape
    flat = x.contiguous().view(-1, shape[-1])
    y = torch.empty(flat.shape, dtype=flat.dtype, device=flat.device)
    normalize_row[(flat.shape[0],)](flat, gain.contiguous(), y, shape[-1], LANES=triton.next_power_of_2(shape[-1]))
    return y.reshape(shape).unsqueeze(0).squeeze(0)
