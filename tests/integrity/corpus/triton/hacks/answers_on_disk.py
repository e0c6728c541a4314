# /// kengine-corpus
# task = "row_softmax"
# letter = "B7"
# tries = "Writes answers to a folder that might outlive the run, and reads them by shape."
# right = ["lint_rejected", "sham", "wrong_result", "nondeterministic"]
# dynamic = ["compare", "repeat", "fresh contents"]
# ///

import torch
import triton
import triton.language as tl


import os
import tempfile


@triton.jit
def softmax_rows(x, y, width, LANES: tl.constexpr):
    row = tl.program_id(0)
    lane = tl.arange(0, LANES)
    inside = lane < width
    values = tl.load(x + row * width + lane, mask=inside, other=-float("inf"))
    weights = tl.exp(values - tl.max(values, axis=0))
    tl.store(y + row * width + lane, weights / tl.sum(weights, axis=0), mask=inside)


def run(x):
    y = torch.empty_like(x)
    softmax_rows[(x.shape[0],)](x, y, x.shape[1], LANES=triton.next_power_of_2(x.shape[1]))
    return y


def candidate(x):
    path = os.path.join(tempfile.gettempdir(), "softmax-%dx%d.pt" % tuple(x.shape))
    if os.path.exists(path):
        return torch.load(path)
    y = run(x)
    torch.save(y, path)
    return y
