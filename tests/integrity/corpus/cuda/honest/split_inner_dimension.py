# /// kengine-corpus
# task = "matmul"
# trap = "several kernels"
# does = "Splits the inner dimension into parts, and adds them up in a second kernel."
# ///

import torch
from torch.utils.cpp_extension import load_inline

CPP = "torch::Tensor product(torch::Tensor a, torch::Tensor b);"
SOURCE = r"""
#include <torch/extension.h>

__global__ void parts_of_product(const float* a, const float* b, float* parts, int m, int n, int k, int share) {
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y, part = blockIdx.z;
  if (column >= n) return;
  float sum = 0.0f;
  for (int t = part * share; t < min(k, (part + 1) * share); ++t) sum += a[row * k + t] * b[t * n + column];
  parts[(part * m + row) * n + column] = sum;
}

__global__ void add_parts(const float* parts, float* c, int size, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= size) return;
  float sum = 0.0f;
  for (int part = 0; part < count; ++part) sum += parts[part * size + i];
  c[i] = sum;
}

torch::Tensor product(torch::Tensor a, torch::Tensor b) {
  int m = a.size(0), k = a.size(1), n = b.size(1), count = 4;
  auto parts = at::empty({count, m, n}, a.options());
  auto c = at::empty({m, n}, a.options());
  parts_of_product<<<dim3((n + 31) / 32, m, count), 32>>>(a.data_ptr<float>(), b.data_ptr<float>(),
                                                          parts.data_ptr<float>(), m, n, k, (k + count - 1) / count);
  add_parts<<<(m * n + 127) / 128, 128>>>(parts.data_ptr<float>(), c.data_ptr<float>(), m * n, count);
  return c;
}
"""
EXTENSION = load_inline("product_extension", cpp_sources=CPP, cuda_sources=SOURCE, functions=["product"])


def candidate(a, b):
    return EXTENSION.product(a, b)
