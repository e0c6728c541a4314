# /// kengine-corpus
# task = "rms_norm"
# letter = "A1"
# tries = "Launches its kernel in a function that is passed around and never called."
# right = ["lint_rejected", "sham"]
# dynamic = ["launched", "provenance"]
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


def run(x, gain):
    y = torch.empty_like(x)
    normalize_row[(x.shape[0],)](x, gain, y, x.shape[1], LANES=triton.next_power_of_2(x.shape[1]))
    return y


BACKENDS = {"triton": run, "native": lambda x, g: torch.nn.functional.rms_norm(x, x.shape[-1:], g, 1e-6)}


def candidate(x, gain):
    return BACKENDS["native"](x, gain)
