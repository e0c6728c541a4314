# /// kengine-corpus
# task = "row_softmax"
# letter = "A9"
# tries = "Computes by methods and operators of CuPy's arrays, each a kernel of the library, and copies at the end."
# right = ["lint_rejected", "sham"]
# dynamic = ["provenance", "coverage"]
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


def candidate(x):
    rows = cp.from_dlpack(x)
    power = cp.exp(rows - rows.max(axis=1, keepdims=True))
    power /= power.sum(axis=1, keepdims=True)
    return emit(torch.from_dlpack(power))
