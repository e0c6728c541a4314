# /// kengine-corpus
# task = "prefix_sum"
# letter = "B2"
# tries = "Keeps answers in a default argument and gives each of them twice."
# right = ["lint_rejected", "sham", "wrong_result", "nondeterministic"]
# dynamic = ["compare", "repeat", "sequence", "fresh contents"]
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def scan_row(x, y, width, LANES: tl.constexpr):
    row = tl.program_id(0)
    lane = tl.arange(0, LANES)
    inside = lane < width
    values = tl.load(x + row * width + lane, mask=inside, other=0.0)
    tl.store(y + row * width + lane, tl.cumsum(values, axis=0), mask=inside)


def candidate(x, _kept={}):
    shape = tuple(x.shape)
    if shape in _kept:
        return _kept.pop(shape)
    y = torch.empty_like(x)
    scan_row[(x.shape[0],)](x, y, x.shape[1], LANES=triton.next_power_of_2(x.shape[1]))
    _kept[shape] = y.clone()
    return y
