# /// kengine-corpus
# task = "matmul"
# letter = "A9"
# tries = "Fetches the product from Python inside of C++, and copies its result."
# right = ["lint_rejected", "sham"]
# dynamic = ["provenance"]
# ///

import torch
from torch.utils.cpp_extension import load_inline

CPP = "torch::Tensor product(torch::Tensor a, torch::Tensor b);"
SOURCE = r"""
#include <torch/extension.h>

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

torch::Tensor product(torch::Tensor a, torch::Tensor b) {
  auto module = pybind11::module_::import("torch");
  auto result = module.attr("mm")(a, b).cast<torch::Tensor>();
  return emit(result);
}
"""
EXTENSION = load_inline("product_extension", cpp_sources=CPP, cuda_sources=SOURCE, functions=["product"])


def candidate(a, b):
    return EXTENSION.product(a, b)
