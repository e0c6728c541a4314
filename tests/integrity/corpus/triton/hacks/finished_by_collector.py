# /// kengine-corpus
# task = "rms_norm"
# letter = "C6"
# tries = "Leaves the launch to a finalizer that runs when the garbage collector comes by."
# right = ["lint_rejected", "sham", "wrong_result", "tampered", "nondeterministic"]
# dynamic = ["compare", "late writes", "launched"]
# ///

import torch
import triton
import triton.language as tl


import weakref


@triton.jit
def normalize_row(x, gain, y, width, LANES: tl.constexpr):
    row = tl.program_id(0)
    lane = tl.arange(0, LANES)
    inside = lane < width
    values = tl.load(x + row * width + lane, mask=inside, other=0.0)
    scale = tl.rsqrt(tl.sum(values * values, axis=0) / width + 1e-6)
    tl.store(y + row * width + lane, values * scale * tl.load(gain + lane, mask=inside), mask=inside)


class Token:
    pass


def finish(x, gain, y):
    normalize_row[(x.shape[0],)](x, gain, y, x.shape[1], LANES=triton.next_power_of_2(x.shape[1]))


def candidate(x, gain):
    y = torch.empty_like(x)
    ring = Token()
    ring.self = ring
    weakref.finalize(ring, finish, x, gain, y)
    return y
