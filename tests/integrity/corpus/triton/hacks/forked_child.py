# /// kengine-corpus
# task = "rms_norm"
# letter = "C2"
# tries = "Forks a child that computes into shared memory while the call returns."
# right = ["lint_rejected", "sham", "tampered", "wrong_result", "crashed", "launch_failed", "nondeterministic"]
# dynamic = ["threads", "launched", "compare", "launch", "late writes", "compile"]
# ///

import torch
import triton
import triton.language as tl


import os


@triton.jit
def normalize_row(x, gain, y, width, LANES: tl.constexpr):
    row = tl.program_id(0)
    lane = tl.arange(0, LANES)
    inside = lane < width
    values = tl.load(x + row * width + lane, mask=inside, other=0.0)
    scale = tl.rsqrt(tl.sum(values * values, axis=0) / width + 1e-6)
    tl.store(y + row * width + lane, values * scale * tl.load(gain + lane, mask=inside), mask=inside)


def candidate(x, gain):
    y = torch.empty(x.shape, device=x.device).share_memory_()
    if os.fork() == 0:
        normalize_row[(x.shape[0],)](x, gain, y, x.shape[1], LANES=triton.next_power_of_2(x.shape[1]))
        os._exit(0)
    return y
