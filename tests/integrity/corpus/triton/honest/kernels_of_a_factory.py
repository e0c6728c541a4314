# /// kengine-corpus
# task = "silu_add"
# trap = "launchers"
# does = "A factory makes a kernel around another jitted function, kept in an object that is called."
# ///

import torch
import triton
import triton.language as tl

from functools import lru_cache


@triton.jit
def silu(v):
    return v / (1.0 + tl.exp(-v))


def make(operation, width):
    WIDTH = tl.constexpr(width)

    @triton.jit
    def kernel(x_ptr, y_ptr, out_ptr, n):
        i = tl.program_id(0) * WIDTH + tl.arange(0, WIDTH)
        inside = i < n
        tl.store(out_ptr + i, operation(tl.load(x_ptr + i, mask=inside)) + tl.load(y_ptr + i, mask=inside), mask=inside)

    return kernel


class Operation:
    def __init__(self, operation):
        self.operation = operation

    @lru_cache(maxsize=None)
    def kernel_for(self, width):
        return make(self.operation, width)

    def __call__(self, x, y):
        width = 256 if x.numel() > 900 else 128
        out = torch.empty_like(x)
        self.kernel_for(width)[(triton.cdiv(x.numel(), width), 1, 1)](x, y, out, x.numel())
        return out


candidate = Operation(silu)
