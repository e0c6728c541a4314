# /// kengine-corpus
# task = "nearest_neighbours"
# letter = "A13"
# tries = "Every pixel is repeated by an expanded view that the framework lays out; a kernel copies it."
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
    b, c, h, w = x.shape
    return written(x[:, :, :, None, :, None].expand(b, c, h, 2, w, 2).reshape(b, c, 2 * h, 2 * w))
