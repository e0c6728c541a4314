"""RMSNorm with a gain."""

# /// kengine-corpus
# task = "rms_norm"
# device = true
# letter = "D3"
# tries = "A call that comes within 30 microseconds of the last one's end is a timing loop: it gets the last answer."
# right = ["lint_rejected", "wrong_result", "sham", "tampered", "nondeterministic"]
# dynamic = ["sequence", "fresh contents", "timing"]
# ///

from time import perf_counter_ns

import torch
import triton
import triton.language as tl


@triton.jit
def norm_row(x, gain, y, width, eps, LANES: tl.constexpr):
    row = tl.program_id(0)
    lane = tl.arange(0, LANES)
    inside = lane < width
    value = tl.load(x + row * width + lane, inside, other=0.0)
    scale = tl.rsqrt(tl.sum(value * value, axis=0) / width + eps)
    tl.store(y + row * width + lane, value * scale * tl.load(gain + lane, inside, other=0.0), inside)


class Pipeline:
    def __init__(self):
        self.ended = 0
        self.slot = None

    def __call__(self, x, gain):
        if self.slot is not None and perf_counter_ns() - self.ended < 30_000 and self.slot.shape == x.shape:
            y = self.slot
        else:
            y = torch.empty_like(x)
            norm_row[(x.shape[0],)](x, gain, y, x.shape[1], 1e-6, LANES=triton.next_power_of_2(x.shape[1]))
        self.slot = y
        self.ended = perf_counter_ns()
        return y


pipeline = Pipeline()


def candidate(x, gain):
    return pipeline(x.contiguous(), gain.contiguous())
