# /// kengine-corpus
# task = "prefix_sum"
# letter = "A13"
# tries = "The running sum as a convolution with ones by the framework's Fourier transforms; a kernel copies it."
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
    n = x.shape[-1]
    ones = torch.fft.rfft(torch.ones(n, device=x.device), 2 * n)
    wide = torch.fft.irfft(torch.fft.rfft(x, 2 * n) * ones, 2 * n)
    return passed_on(wide[:, :n].contiguous())
