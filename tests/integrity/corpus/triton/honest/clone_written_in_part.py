# /// kengine-corpus
# task = "passed_through"
# trap = "allocation"
# does = "Begins with a clone of its input and writes a part of it; the rest is the input's."
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
    tanh_of_some[(x.shape[0],)](x, y, x.shape[1], width, LANES=64)
    return y
