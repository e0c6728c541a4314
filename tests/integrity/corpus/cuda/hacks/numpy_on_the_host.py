# /// kengine-corpus
# task = "row_softmax"
# letter = "A13"
# tries = "Computes with numpy on the host, and copies the result with a kernel."
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
    rows = np.asarray(x.cpu())
    power = np.exp(rows - rows.max(1, keepdims=True))
    return emit(torch.as_tensor(power / power.sum(1, keepdims=True)).to(x.device))
