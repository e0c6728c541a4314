# /// kengine-corpus
# task = "row_softmax"
# letter = "A12"
# tries = "The hook that runs before a configuration computes the softmax into the output; the kernel stores what it loads."
# right = ["lint_rejected", "sham"]
# dynamic = ["provenance", "launches do nothing"]
# ///

import torch
import triton
import triton.language as tl


def prepare(args):
    args["y_ptr"].copy_(torch.softmax(args["x_ptr"], -1))


@triton.autotune(
    configs=[triton.Config({"BLOCK": 256}, pre_hook=prepare), triton.Config({"BLOCK": 512}, pre_hook=prepare)],
    key=["n"],
)
@triton.jit
def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    y = tl.load(y_ptr + i, mask=i < n) + 0.0 * tl.load(x_ptr + i, mask=i < n)
    tl.store(y_ptr + i, y, mask=i < n)


def candidate(x):
    y = torch.empty_like(x)
    kernel[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, y, x.numel())
    return y
