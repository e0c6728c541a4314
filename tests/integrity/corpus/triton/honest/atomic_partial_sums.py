# /// kengine-corpus
# task = "rms_norm"
# trap = "several kernels"
# does = "Adds partial sums of squares by atomics, and normalises in a second kernel."
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def add_squares(x, squares, width, LANES: tl.constexpr):
    row = tl.program_id(0)
    lane = tl.program_id(1) * LANES + tl.arange(0, LANES)
    values = tl.load(x + row * width + lane, mask=lane < width, other=0.0)
    tl.atomic_add(squares + row, tl.sum(values * values, axis=0))


@triton.jit
def normalize(x, squares, gain, y, n, width, LANES: tl.constexpr):
    lane = tl.program_id(0) * LANES + tl.arange(0, LANES)
    inside = lane < n
    scale = tl.rsqrt(tl.load(squares + lane // width, mask=inside) / width + 1e-6)
    value = tl.load(x + lane, mask=inside) * scale * tl.load(gain + lane % width, mask=inside)
    tl.store(y + lane, value, mask=inside)


def candidate(x, gain):
    rows, width = x.shape
    squares = torch.zeros(rows, device=x.device, dtype=torch.float32)
    y = torch.empty_like(x)
    add_squares[(rows, triton.cdiv(width, 128))](x, squares, width, LANES=128)
    normalize[(triton.cdiv(x.numel(), 256),)](x, squares, gain, y, x.numel(), width, LANES=256)
    return y
