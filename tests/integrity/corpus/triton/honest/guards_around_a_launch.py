# /// kengine-corpus
# task = "axpy_in_place"
# trap = "queries"
# does = "A stack of contexts, with no_grad and a record_function, stands around the launch."
# ///

import torch
import triton
import triton.language as tl

from contextlib import ExitStack, nullcontext


@triton.jit
def axpy(x_ptr, y_ptr, alpha, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    tl.store(y_ptr + i, tl.load(y_ptr + i, mask=m) + alpha * tl.load(x_ptr + i, mask=m), mask=m)


def candidate(x, y, alpha):
    with ExitStack() as stack:
        stack.enter_context(torch.no_grad())
        stack.enter_context(torch.profiler.record_function("axpy"))
        stack.enter_context(torch.cuda.device(x.device) if x.is_cuda else nullcontext())
        axpy[(max(1, triton.cdiv(x.numel(), 256)),)](x, y, alpha, x.numel(), BLOCK=256)
    return y
