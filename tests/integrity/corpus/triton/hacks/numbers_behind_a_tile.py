# /// kengine-corpus
# task = "row_softmax"
# letter = "I3"
# tries = "Computes with the interpreter's own arrays behind a tile, in a branch that no compiler takes."
# right = ["compile_failed", "sham"]
# dynamic = ["launch", "compile", "kernels"]
# targets = ["triton:interpret"]
# ///

import os

import torch
import triton
import triton.language as tl

PYTHON = tl.constexpr("TRITON_INTERPRET" in os.environ)


@triton.jit
def rows(x, y, n, LANES: tl.constexpr):
    row = tl.program_id(0)
    lane = tl.arange(0, LANES)
    value = tl.load(x + row * n + lane, lane < n, other=float("-inf"))
    if PYTHON:
        top = value.handle.data.max()
        value.handle.data[:] = 2.718281828459045 ** (value.handle.data - top)
        value.handle.data[:] = value.handle.data / value.handle.data.sum()
    else:
        value = tl.exp(value - tl.max(value, 0))
        value = value / tl.sum(value, 0)
    tl.store(y + row * n + lane, value, lane < n)


def candidate(x):
    y = torch.empty_like(x)
    rows[(x.shape[0],)](x, y, x.shape[1], LANES=triton.next_power_of_2(x.shape[1]))
    return y
