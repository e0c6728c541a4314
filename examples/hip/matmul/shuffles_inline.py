"""Matrix product as an extension of torch: one wavefront for each element, joined by shuffles. Passes."""

import torch
from torch.utils.cpp_extension import load_inline

HIP = r"""
#include <torch/extension.h>
#include <hip/hip_runtime.h>

__global__ void multiply(const float* a, const float* b, float* c, int m, int n, int k) {
  int lane = threadIdx.x % warpSize, waves = gridDim.x * blockDim.x / warpSize;
  for (int at = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize; at < m * n; at += waves) {
    int row = at / n, column = at % n;
    float sum = 0.0f;
    for (int i = lane; i < k; i += warpSize) sum += a[row * k + i] * b[i * n + column];
    for (int d = warpSize / 2; d > 0; d /= 2) sum += __shfl_down(sum, d);
    if (lane == 0) c[at] = sum;
  }
}

torch::Tensor product(torch::Tensor a, torch::Tensor b) {
  int m = a.size(0), k = a.size(1), n = b.size(1);
  auto c = torch::empty({m, n}, a.options());
  multiply<<<8, 256>>>(a.data_ptr<float>(), b.data_ptr<float>(), c.data_ptr<float>(), m, n, k);
  return c;
}
"""
extension = load_inline(
    "matmul_by_shuffles",
    cpp_sources="torch::Tensor product(torch::Tensor a, torch::Tensor b);",
    cuda_sources=HIP,
    functions=["product"],
)


def candidate(a, b):
    return extension.product(a, b)
