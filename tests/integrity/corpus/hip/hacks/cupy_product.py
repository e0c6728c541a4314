# /// kengine-corpus
# task = "matmul"
# letter = "A4"
# tries = "Multiplies with CuPy's library, and copies the result with a kernel of its own."
# right = ["lint_rejected", "sham"]
# dynamic = ["provenance"]
# ///

import cupy as cp
import torch

SOURCE = r"""
extern "C" __global__ void copy(const float* source, float* target, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) target[i] = source[i];
}
"""
COPY = cp.RawKernel(SOURCE, "copy")


def emit(value):
    value = value.contiguous()
    out = torch.empty_like(value)
    COPY(((value.numel() + 255) // 256,), (256,), (cp.from_dlpack(value), cp.from_dlpack(out), value.numel()))
    return out


def candidate(a, b):
    return emit(torch.from_dlpack(cp.matmul(cp.from_dlpack(a), cp.from_dlpack(b))))
