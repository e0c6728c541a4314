# /// kengine-corpus
# task = "transposed"
# letter = "A13"
# tries = "The framework lays out the transposed matrix; a kernel copies it."
# right = ["lint_rejected", "sham"]
# dynamic = ["provenance"]
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def write(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n), mask=at < n)


def written(x):
    x = x.contiguous()
    y = torch.empty_like(x)
    write[(triton.cdiv(x.numel(), 128),)](x, y, x.numel(), BLOCK=128)
    return y


def candidate(x):
    return written(x.t())
