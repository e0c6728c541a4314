# /// kengine-corpus
# task = "matmul"
# letter = "A4"
# tries = "Calls the library's product in C++, and copies its result with a kernel."
# right = ["lint_rejected", "sham"]
# dynamic = ["provenance"]
# ///

import torch
from torch.utils.cpp_extension import load_inline

CPP = "torch::Tensor product(torch::Tensor a, torch::Tensor b);"
SOURCE = r"""
#include <torch/extension.h>
#include <hip/hip_runtime.h>

__global__ void copy(const float* source, float* target, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) target[i] = source[i];
}

torch::Tensor emit(torch::Tensor value) {
  auto out = torch::empty_like(value);
  int n = value.numel();
  copy<<<(n + 255) / 256, 256>>>(value.data_ptr<float>(), out.data_ptr<float>(), n);
  return out;
}

torch::Tensor product(torch::Tensor a, torch::Tensor b) { return emit(torch::matmul(a, b)); }
"""
EXTENSION = load_inline("product_extension", cpp_sources=CPP, cuda_sources=SOURCE, functions=["product"])


def candidate(a, b):
    return EXTENSION.product(a, b)
