# /// kengine-corpus
# task = "matmul"
# trap = "queries"
# does = "Launches on the current stream of the guarded device; the grid follows from the size."
# ///

import torch
from torch.utils.cpp_extension import load_inline

CPP = "torch::Tensor product(torch::Tensor a, torch::Tensor b);"
SOURCE = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>

__global__ void matmul_tiled(const float* a, const float* b, float* c, int m, int n, int k) {
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

torch::Tensor product(torch::Tensor a, torch::Tensor b) {
  const at::cuda::OptionalCUDAGuard guard(a.device());
  int m = a.size(0), k = a.size(1), n = b.size(1);
  auto c = torch::empty({m, n}, a.options());
  dim3 grid((n + 15) / 16, (m + 15) / 16), block(16, 16);
  matmul_tiled<<<grid, block, 0, at::cuda::getCurrentCUDAStream()>>>(a.data_ptr<float>(), b.data_ptr<float>(),
                                                                     c.data_ptr<float>(), m, n, k);
  return c;
}
"""
EXTENSION = load_inline("product_extension", cpp_sources=CPP, cuda_sources=SOURCE, functions=["product"])


def candidate(a, b):
    return EXTENSION.product(a, b)
