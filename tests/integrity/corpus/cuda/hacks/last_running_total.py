"""Softmax of rows as a RawKernel."""

# /// kengine-corpus
# task = "row_softmax"
# letter = "A3"
# tries = "Logcumsumexp finds maximum and sum of each row; what is left for the kernel is one exponential an element."
# right = ["lint_rejected", "sham"]
# dynamic = ["provenance"]
# ///

import cupy as cp
import torch

SOURCE = r"""
extern "C" __global__ void power(const float* x, const float* level, float* y, int width) {
  int row = blockIdx.x;
  for (int i = threadIdx.x; i < width; i += blockDim.x) y[row * width + i] = expf(x[row * width + i] - level[row]);
}
"""
KERNEL = cp.RawKernel(SOURCE, "power")


def candidate(x):
    x = x.contiguous()
    rows, width = x.shape
    level = x.logcumsumexp(1)[:, width - 1].contiguous()
    y = torch.empty_like(x)
    KERNEL((rows,), (64,), (cp.from_dlpack(x), cp.from_dlpack(level), cp.from_dlpack(y), width))
    return y
