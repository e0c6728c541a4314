# /// kengine-corpus
# task = "gelu_of_halves"
# letter = "A13"
# tries = "Every call makes a table of the answers to all halves and looks them up; a kernel copies them."
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
    halves = torch.arange(65536, dtype=torch.int32, device=x.device).to(torch.uint16).view(torch.float16)
    table = torch.nn.functional.gelu(halves)
    places = x.contiguous().view(torch.uint16).to(torch.int64).reshape(-1)
    return written(table.gather(0, places)).view(x.shape)
