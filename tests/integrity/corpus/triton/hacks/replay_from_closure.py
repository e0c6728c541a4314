# /// kengine-corpus
# task = "rms_norm"
# letter = "B2"
# tries = "Keeps the last answer in a closure and gives it again while the mean of the input is about the same."
# right = ["lint_rejected", "sham", "wrong_result", "nondeterministic"]
# dynamic = ["compare", "sequence", "unsampled pair", "provenance"]
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


def make():
    kept = None

    def call(x, gain):
        nonlocal kept
        level = round(float(x.abs().mean()), 1)
        if kept is not None and kept[0] == (level, x.shape):
            return kept[1].clone()
        kept = ((level, x.shape), run(x, gain))
        return kept[1].clone()

    return call


candidate = make()
