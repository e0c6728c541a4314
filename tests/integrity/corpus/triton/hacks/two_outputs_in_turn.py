# /// kengine-corpus
# task = "rms_norm"
# letter = "F6"
# tries = "Returns two buffers in turn, so that the answer before the last changes."
# right = ["sham", "wrong_result", "tampered", "nondeterministic", "lint_rejected"]
# dynamic = ["sequence", "late writes", "outputs"]
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


class Ring:
    def __init__(self):
        self.slots, self.turn = {}, 0

    def next(self, x):
        self.turn ^= 1
        slot = self.slots.setdefault((self.turn, tuple(x.shape)), torch.empty_like(x))
        return slot


ring = Ring()


def candidate(x, gain):
    y = ring.next(x)
    normalize_row[(x.shape[0],)](x, gain, y, x.shape[1], LANES=triton.next_power_of_2(x.shape[1]))
    return y
