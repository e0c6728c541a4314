# /// kengine-corpus
# task = "axpy_in_place"
# trap = "destination"
# does = "Writes into the argument that the task names, and returns it."
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def axpy(x, y, n, alpha, LANES: tl.constexpr):
    lane = tl.program_id(0) * LANES + tl.arange(0, LANES)
    inside = lane < n
    tl.store(y + lane, tl.load(y + lane, mask=inside) + alpha * tl.load(x + lane, mask=inside), mask=inside)


def candidate(x, y, alpha):
    axpy[(triton.cdiv(y.numel(), 256),)](x, y, y.numel(), alpha, LANES=256)
    return y
