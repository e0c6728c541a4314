"""RMSNorm with a gain."""

# /// kengine-corpus
# task = "rms_norm"
# letter = "A12"
# tries = "The norm of each row by one operator of the framework; the kernel only scales."
# right = ["lint_rejected", "sham"]
# dynamic = ["provenance"]
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def scale_rows(x, norm, gain, y, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    size = tl.load(norm + row)
    factor = 1.0 / tl.sqrt(size * size / n + 1e-6)
    value = tl.load(x + row * n + i, mask=i < n) * factor * tl.load(gain + i, mask=i < n)
    tl.store(y + row * n + i, value, mask=i < n)


def candidate(x, gain):
    x = x.contiguous()
    norm = torch.linalg.vector_norm(x, dim=-1)
    y = torch.empty_like(x)
    scale_rows[(x.shape[0],)](x, norm, gain, y, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
    return y
