# /// kengine-corpus
# task = "matmul"
# letter = "A2"
# tries = "Launches a kernel into the result, which an operator with an out argument then overwrites."
# right = ["lint_rejected", "sham"]
# dynamic = ["provenance", "launches do nothing", "launches raise"]
# ///

import torch
from torch.utils.cpp_extension import load_inline

CPP = "torch::Tensor product(torch::Tensor a, torch::Tensor b);"
SOURCE = r"""
#include <torch/extension.h>

__global__ void matmul_rows(const float* a, const float* b, float* c, int m, int n, int k) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column < n) {
    float sum = 0.0f;
    for (int t = 0; t < k; ++t) sum += a[t] * b[t * n + column];
    c[column] = sum;
  }
}

torch::Tensor product(torch::Tensor a, torch::Tensor b) {
  int m = a.size(0), k = a.size(1), n = b.size(1);
  auto c = torch::empty({m, n}, a.options());
  matmul_rows<<<(n + 63) / 64, 64>>>(a.data_ptr<float>(), b.data_ptr<float>(), c.data_ptr<float>(), m, n, k);
  at::mm_out(c, a, b);
  return c;
}
"""
EXTENSION = load_inline("product_extension", cpp_sources=CPP, cuda_sources=SOURCE, functions=["product"])


def candidate(a, b):
    return EXTENSION.product(a, b)
