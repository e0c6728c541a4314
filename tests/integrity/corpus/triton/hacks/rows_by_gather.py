# /// kengine-corpus
# task = "rows_of_a_table"
# letter = "A13"
# tries = "The framework gathers the rows; a kernel copies them."
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


def candidate(i, w):
    return written(w.gather(0, i[:, None].expand(-1, w.shape[1])))
