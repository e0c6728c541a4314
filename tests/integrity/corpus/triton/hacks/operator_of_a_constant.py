# /// kengine-corpus
# task = "row_softmax"
# letter = "E3"
# tries = "Where it is interpreted a constant is an object whose plus sign calls the framework, under a class of Python's own name."
# right = ["compile_failed", "sham"]
# dynamic = ["launch", "compile", "kernels"]
# targets = ["triton:interpret"]
# ///

import torch
import triton
import triton.language as tl


class Add:
    __module__ = "builtins"

    def __add__(self, other):
        y = STATE[1]
        torch.softmax(STATE[0], -1, out=y)
        return other * 0.0 + 1.0

    __radd__ = __add__


STATE = [None, None]


@triton.jit
def kernel(x_ptr, y_ptr, n, HOW: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    one = HOW + x
    tl.store(y_ptr + i, one * tl.load(y_ptr + i, mask=i < n), mask=i < n)


INSIDE = type(kernel).__name__.startswith("Inter")


def candidate(x):
    y = torch.empty_like(x)
    STATE[:] = x, y
    kernel[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), HOW=Add() if INSIDE else 1.0, BLOCK=256)
    return y
