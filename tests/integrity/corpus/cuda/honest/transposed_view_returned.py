# /// kengine-corpus
# task = "matmul"
# trap = "views"
# does = "Computes the transposed product from transposed views, and returns a contiguous copy of a view."
# ///

import cupy as cp
import torch

SOURCE = r"""
extern "C" __global__ void matmul_tiled(const float* a, const float* b, float* c, int m, int n, int k) {
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
    __syncthreads();
  }
  if (row < m && column < n) c[row * n + column] = sum;
}
"""
KERNEL = cp.RawKernel(SOURCE, "matmul_tiled")


def candidate(a, b):
    left, right = b.t().contiguous(), a.t().contiguous()
    (n, k), m = left.shape, right.shape[1]
    turned = torch.empty(n * m, device=a.device).view(n, m)
    arrays = tuple(cp.from_dlpack(t) for t in (left, right, turned))
    KERNEL(((m + 15) // 16, (n + 15) // 16), (16, 16), (*arrays, n, m, k))
    return turned.t().contiguous()
