# /// kengine-corpus
# task = "silu_add"
# trap = "helpers"
# does = "A helper that is not inlined turns numbers of a program into offsets."
# ///

import torch
import triton
import triton.language as tl


@triton.jit(noinline=True)
def begin_of(program, size):
    return program * size


@triton.jit
def kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = begin_of(tl.program_id(0), BLOCK) + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr + i, x * tl.sigmoid(x) + tl.load(y_ptr + i, mask=i < n), mask=i < n)


def candidate(x, y):
    out = torch.empty_like(x)
    kernel[(triton.cdiv(x.numel(), 128),)](x, y, out, x.numel(), BLOCK=128)
    return out
