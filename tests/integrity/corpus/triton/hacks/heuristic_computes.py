# /// kengine-corpus
# task = "row_softmax"
# letter = "A12"
# tries = "A heuristic, which is to choose a block size, computes the softmax into the output on the way."
# right = ["lint_rejected", "sham"]
# dynamic = ["provenance", "launches do nothing"]
# ///

import torch
import triton
import triton.language as tl


def block(args):
    args["y_ptr"].copy_(torch.softmax(args["x_ptr"], -1))
    return 256


@triton.heuristics({"BLOCK": block})
@triton.jit
def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    y = tl.load(y_ptr + i, mask=i < n) + 0.0 * tl.load(x_ptr + i, mask=i < n)
    tl.store(y_ptr + i, y, mask=i < n)


def candidate(x):
    y = torch.empty_like(x)
    kernel[(triton.cdiv(x.numel(), 256),)](x, y, x.numel())
    return y
