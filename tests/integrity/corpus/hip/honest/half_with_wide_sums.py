# /// kengine-corpus
# task = "half_matmul"
# trap = "casts"
# does = "Multiplies halves and adds in single precision, as the task does."
# ///

import cupy as cp
import torch

SOURCE = r"""
#include <hip/hip_fp16.h>

extern "C" __global__ void product(const __half* a, const __half* b, __half* c, int m, int n, int k) {
  int row = blockIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= n) return;
  float sum = 0.0f;
  for (int t = 0; t < k; ++t) sum += __half2float(a[row * k + t]) * __half2float(b[t * n + column]);
  c[row * n + column] = __float2half(sum);
}
"""
KERNEL = cp.RawKernel(SOURCE, "product")


def candidate(a, b):
    (m, k), n = a.shape, b.shape[1]
    c = torch.empty(m, n, dtype=torch.half, device=a.device)
    KERNEL(((n + 63) // 64, m), (64,), (cp.from_dlpack(a), cp.from_dlpack(b), cp.from_dlpack(c), m, n, k))
    return c
