"""A matrix product that loads the next tile while others multiply. Expected: launch_failed, a data race."""

import cupy as cp
import torch

SOURCE = r"""
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float left[16][16];
  __shared__ float right[16][16];
  int row = blockIdx.y * 16 + threadIdx.y;
  int column = blockIdx.x * 16 + threadIdx.x;
  float sum = 0.0f;
  for (int start = 0; start < k; start += 16) {
    int i = start + threadIdx.x, j = start + threadIdx.y;
    left[threadIdx.y][threadIdx.x] = row < m && i < k ? a[row * k + i] : 0.0f;
    right[threadIdx.y][threadIdx.x] = j < k && column < n ? b[j * n + column] : 0.0f;
    __syncthreads();
    for (int t = 0; t < 16; ++t) sum += left[threadIdx.y][t] * right[t][threadIdx.x];
  }
  if (row < m && column < n) c[row * n + column] = sum;
}
"""
KERNEL = cp.RawKernel(SOURCE, "matmul")


def candidate(a, b):
    (m, k), n = a.shape, b.shape[1]
    c = torch.empty(m, n, device=a.device)
    arrays = (cp.from_dlpack(a), cp.from_dlpack(b), cp.from_dlpack(c))
    KERNEL((-(-n // 16), -(-m // 16)), (16, 16), (*arrays, m, n, k))
    return c
