# /// kengine-corpus
# task = "row_softmax"
# letter = "A13"
# tries = "Has numpy look at the input by DLPack, computes there, and copies the result with a kernel."
# right = ["lint_rejected", "sham"]
# dynamic = ["provenance"]
# ///

import numpy as np
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
    rows = np.from_dlpack(x.cpu())
    power = np.exp(rows - np.max(rows, 1, keepdims=True))
    np.divide(power, np.sum(power, 1, keepdims=True), out=power)
    return emit(torch.from_dlpack(power).to(x.device))
