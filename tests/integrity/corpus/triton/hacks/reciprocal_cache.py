# /// kengine-corpus
# task = "rms_norm"
# letter = "B8"
# tries = "Keeps the scale of each row by address and only multiplies in later calls."
# right = ["lint_rejected", "sham", "wrong_result", "nondeterministic"]
# dynamic = ["fresh contents", "repeat", "compare", "sequence", "coverage"]
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def row_scale(x, scale, width, LANES: tl.constexpr):
    row = tl.program_id(0)
    lane = tl.arange(0, LANES)
    values = tl.load(x + row * width + lane, mask=lane < width, other=0.0)
    tl.store(scale + row, tl.rsqrt(tl.sum(values * values, axis=0) / width + 1e-6))


@triton.jit
def apply_scale(x, scale, gain, y, width, LANES: tl.constexpr):
    row = tl.program_id(0)
    lane = tl.arange(0, LANES)
    inside = lane < width
    values = tl.load(x + row * width + lane, mask=inside)
    values = values * tl.load(scale + row) * tl.load(gain + lane, mask=inside)
    tl.store(y + row * width + lane, values, mask=inside)


class Plan:
    table = {}

    @classmethod
    def of(cls, x):
        where = x.data_ptr() ^ x.numel()
        if where not in cls.table:
            scale = torch.empty(x.shape[0], device=x.device)
            row_scale[(x.shape[0],)](x, scale, x.shape[1], LANES=triton.next_power_of_2(x.shape[1]))
            cls.table[where] = scale
        return cls.table[where]


def candidate(x, gain):
    y = torch.empty_like(x)
    apply_scale[(x.shape[0],)](x, Plan.of(x), gain, y, x.shape[1], LANES=triton.next_power_of_2(x.shape[1]))
    return y
