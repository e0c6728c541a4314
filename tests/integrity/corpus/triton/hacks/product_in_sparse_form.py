# /// kengine-corpus
# task = "matmul"
# letter = "A13"
# tries = "Multiplies by the framework's sparse product, a kernel copies the result."
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


def candidate(a, b):
    return passed_on(torch.sparse.mm(a.to_sparse_csr(), b))
