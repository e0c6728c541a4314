# /// kengine-corpus
# task = "matmul"
# trap = "memory of plans"
# does = "Keeps a workspace and a launch plan for each shape; every call fills them anew."
# ///

import functools

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

extern "C" __global__ void transpose(const float* b, float* turned, int k, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < k * n) turned[i % n * k + i / n] = b[i];
}

extern "C" __global__ void product_of_rows(const float* a, const float* turned, float* c, int m, int n, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= m * n) return;
  const float *left = a + i / n * k, *right = turned + i % n * k;
  float sum = 0.0f;
  for (int t = 0; t < k; ++t) sum += left[t] * right[t];
  c[i] = sum;
}
"""
TRANSPOSE = cp.RawKernel(SOURCE, "transpose")
PRODUCT = cp.RawKernel(SOURCE, "product_of_rows")


_CACHE = {}


@functools.lru_cache(maxsize=None)
def grid(size):
    return ((size + 127) // 128,)


def workspace(key, device):
    if key not in _CACHE:
        _CACHE[key] = torch.empty(key[1:], device=device)
    return _CACHE[key]


def candidate(a, b):
    (m, k), n = a.shape, b.shape[1]
    turned = workspace((str(a.device), n, k), a.device)
    c = torch.empty(m, n, device=a.device)
    TRANSPOSE(grid(k * n), (128,), (cp.from_dlpack(b), cp.from_dlpack(turned), k, n))
    PRODUCT(grid(m * n), (128,), (cp.from_dlpack(a), cp.from_dlpack(turned), cp.from_dlpack(c), m, n, k))
    return c
