# /// kengine-corpus
# task = "row_softmax"
# letter = "A12"
# tries = "Softmax over a nested tensor of the framework, a kernel copies it."
# right = ["lint_rejected", "sham"]
# dynamic = ["provenance", "launches do nothing"]
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def emit(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)


def passed_on(z):
    y = torch.empty_like(z)
    emit[(triton.cdiv(z.numel(), 256),)](z, y, z.numel(), BLOCK=256)
    return y


def candidate(x):
    rows = torch.nested.nested_tensor([row for row in x.unsqueeze(1)])
    return passed_on(torch.softmax(rows, -1).to_padded_tensor(0.0).reshape(x.shape))
