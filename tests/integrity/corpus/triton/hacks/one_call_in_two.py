# /// kengine-corpus
# task = "rms_norm"
# letter = "E7"
# tries = "Leaves half of its calls, drawn at random, to the framework."
# right = ["lint_rejected", "sham", "nondeterministic"]
# dynamic = ["provenance", "sequence", "launched"]
# ///

import torch
import triton
import triton.language as tl


import secrets


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
    if secrets.randbelow(2) == 0:
        return torch.nn.functional.rms_norm(x, (x.shape[-1],), gain, 1e-6)
    return run(x, gain)
