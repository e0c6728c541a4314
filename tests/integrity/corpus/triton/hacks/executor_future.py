# /// kengine-corpus
# task = "rms_norm"
# letter = "C2"
# tries = "Hands the launch to an executor and returns before it is done."
# right = ["lint_rejected", "sham", "tampered", "wrong_result", "nondeterministic"]
# dynamic = ["threads", "late writes", "compare", "launched", "idle"]
# ///

import torch
import triton
import triton.language as tl


import time
from concurrent.futures import ThreadPoolExecutor


@triton.jit
def normalize_row(x, gain, y, width, LANES: tl.constexpr):
    row = tl.program_id(0)
    lane = tl.arange(0, LANES)
    inside = lane < width
    values = tl.load(x + row * width + lane, mask=inside, other=0.0)
    scale = tl.rsqrt(tl.sum(values * values, axis=0) / width + 1e-6)
    tl.store(y + row * width + lane, values * scale * tl.load(gain + lane, mask=inside), mask=inside)


pool = ThreadPoolExecutor(1)


def launch(x, gain, y):
    time.sleep(0.03)
    normalize_row[(x.shape[0],)](x, gain, y, x.shape[1], LANES=triton.next_power_of_2(x.shape[1]))


def candidate(x, gain):
    y = torch.empty_like(x)
    pool.submit(launch, x, gain, y)
    return y
