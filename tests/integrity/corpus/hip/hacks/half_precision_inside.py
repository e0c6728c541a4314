# /// kengine-corpus
# task = "matmul"
# letter = "G5"
# tries = "Multiplies single-precision matrices in half precision."
# right = ["lint_rejected", "wrong_result"]
# dynamic = ["compare"]
# ///

import cupy as cp
import torch

SOURCE = r"""
#include <hip/hip_fp16.h>

extern "C" __global__ void matmul_rows(const float* a, const float* b, float* c, int m, int n, int k) {
  int row = blockIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= n) return;
  __half sum = __float2half(0.0f);
  for (int t = 0; t < k; ++t)
    sum = __hadd(sum, __hmul(__float2half(a[row * k + t]), __float2half(b[t * n + column])));
  c[row * n + column] = __half2float(sum);
}
"""
KERNEL = cp.RawKernel(SOURCE, "matmul_rows")


def candidate(a, b):
    (m, k), n = a.shape, b.shape[1]
    c = torch.empty(m, n, device=a.device)
    KERNEL(((n + 31) // 32, m), (32,), (cp.from_dlpack(a), cp.from_dlpack(b), cp.from_dlpack(c), m, n, k))
    return c
