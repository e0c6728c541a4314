# /// kengine-corpus
# task = "row_softmax"
# letter = "A13"
# tries = "Fetches the input with CuPy, computes with numpy, and gives CuPy the result for its copying kernel."
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


def candidate(x):
    rows = cp.asnumpy(cp.from_dlpack(x))
    power = np.exp(rows - rows.max(1, keepdims=True))
    value = cp.asarray(power / power.sum(1, keepdims=True))
    out = torch.empty_like(x)
    n = x.numel()
    COPY(((n + 255) // 256,), (256,), (value, cp.from_dlpack(out), n))
    return out
