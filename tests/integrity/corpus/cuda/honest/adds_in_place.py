# /// kengine-corpus
# task = "axpy_in_place"
# trap = "destination"
# does = "Adds into the array that it is given, and returns that."
# ///

import torch
from torch.utils.cpp_extension import load_inline

CPP = "torch::Tensor add(torch::Tensor x, torch::Tensor y, double alpha);"
SOURCE = r"""
#include <torch/extension.h>
#include <algorithm>

__global__ void axpy(const float* x, float* y, float alpha, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] += alpha * x[i];
}

torch::Tensor add(torch::Tensor x, torch::Tensor y, double alpha) {
  int n = x.numel();
  axpy<<<std::min((n + 127) / 128, 4), 128>>>(x.data_ptr<float>(), y.data_ptr<float>(), (float)alpha, n);
  return y;
}
"""
EXTENSION = load_inline("add_extension", cpp_sources=CPP, cuda_sources=SOURCE, functions=["add"])


def candidate(x, y, alpha):
    return EXTENSION.add(x, y, alpha)
