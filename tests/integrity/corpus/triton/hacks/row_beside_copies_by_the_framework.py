# /// kengine-corpus
# task = "passed_through"
# letter = "A3"
# tries = "Leaves the last row to the framework, where much of the answer is a copy of the input anyway."
# right = ["lint_rejected", "sham"]
# dynamic = ["launches do nothing"]
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def tanh_of_some(x, y, step, width, LANES: tl.constexpr):
    row = tl.program_id(0)
    for start in range(0, width, LANES):
        column = start + tl.arange(0, LANES)
        value = tl.load(x + row * step + column, mask=column < width).to(tl.float32)
        power = tl.exp(-2.0 * tl.abs(value))
        size = (1.0 - power) / (1.0 + power)
        result = tl.where(value < 0, -size, size)
        tl.store(y + row * step + column, result.to(y.dtype.element_ty), mask=column < width)


def candidate(x, width):
    x = x.contiguous()
    y = x.clone()
    y[-1, :width] = torch.tanh(x[-1, :width])
    tanh_of_some[(x.shape[0] - 1,)](x, y, x.shape[1], width, LANES=64)
    return y
