# /// kengine-corpus
# task = "row_softmax"
# letter = "A13"
# tries = "Reads the input at its address with ctypes, computes in plain Python, and copies the result with a kernel."
# right = ["lint_rejected", "sham"]
# dynamic = ["provenance"]
# ///

import ctypes
import math

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
    host = x.cpu()
    rows, width = host.shape
    values = (ctypes.c_float * (rows * width)).from_address(host.data_ptr())
    done = []
    for r in range(rows):
        row = values[r * width : (r + 1) * width]
        top = max(row)
        power = [math.exp(v - top) for v in row]
        total = math.fsum(power)
        done += [p / total for p in power]
    return emit(torch.tensor(done).view(rows, width).to(x.device))
