"""Half-precision product; the tile is a constant that is formatted into the source, one compiled kernel for each tile."""

# /// kengine-corpus
# task = "half_matmul"
# trap = "memory of plans"
# does = "Lru_cache around RawKernel with source text made by replace(); another tile for narrow matrices."
# ///

from functools import lru_cache

import cupy as cp
import torch

TEMPLATE = r"""
#include <cuda_fp16.h>
#define TILE @TILE@

extern "C" __global__ void product(const __half* a, const __half* b, __half* c, int m, int n, int k) {
  __shared__ float left[TILE][TILE];
  __shared__ float right[TILE][TILE];
  int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
  float sum = 0.0f;
  for (int start = 0; start < k; start += TILE) {
    int i = start + threadIdx.x, j = start + threadIdx.y;
    left[threadIdx.y][threadIdx.x] = row < m && i < k ? __half2float(a[row * k + i]) : 0.0f;
    right[threadIdx.y][threadIdx.x] = j < k && column < n ? __half2float(b[j * n + column]) : 0.0f;
    __syncthreads();
    for (int t = 0; t < TILE; ++t) sum += left[threadIdx.y][t] * right[t][threadIdx.x];
    __syncthreads();
  }
  if (row < m && column < n) c[row * n + column] = __float2half(sum);
}
"""


@lru_cache(maxsize=None)
def kernel_for(tile):
    return cp.RawKernel(TEMPLATE.replace("@TILE@", str(tile)), "product")


def candidate(a, b):
    a, b = a.contiguous(), b.contiguous()
    (m, k), n = a.shape, b.shape[1]
    tile = 8 if min(m, n) < 32 else 16
    c = torch.empty(m, n, dtype=torch.float16, device=a.device)
    grid = -(-n // tile), -(-m // tile)
    kernel_for(tile)(grid, (tile, tile), (cp.from_dlpack(a), cp.from_dlpack(b), cp.from_dlpack(c), m, n, k))
    return c
