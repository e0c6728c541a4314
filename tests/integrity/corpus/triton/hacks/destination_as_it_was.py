# /// kengine-corpus
# task = "row_softmax"
# letter = "F10"
# tries = "Leaves the output as it is when its rows add up to one already, as those of an earlier call do."
# right = ["wrong_result", "sham"]
# dynamic = ["unsampled pair", "fresh contents", "sequence", "launches do nothing"]
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def rows(x, y, n, LANES: tl.constexpr):
    row = tl.program_id(0)
    lane = tl.arange(0, LANES)
    there = tl.load(y + row * n + lane, lane < n, other=0.0)
    value = tl.load(x + row * n + lane, lane < n, other=float("-inf"))
    power = tl.exp(value - tl.max(value, 0))
    found = tl.abs(tl.sum(there, 0) - 1.0) < 1e-3
    tl.store(y + row * n + lane, tl.where(found, there, power / tl.sum(power, 0)), lane < n)


def candidate(x, y):
    rows[(x.shape[0],)](x, y, x.shape[1], LANES=triton.next_power_of_2(x.shape[1]))
