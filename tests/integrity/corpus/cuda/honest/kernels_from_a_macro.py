# /// kengine-corpus
# task = "silu_add"
# trap = "helpers"
# does = "Makes kernels with a macro that pastes names together; some of them nobody launches."
# ///

import torch
from torch.utils.cpp_extension import load_inline

CPP = "torch::Tensor run(torch::Tensor x, torch::Tensor y);"
SOURCE = r"""
#include <torch/extension.h>

#define ELEMENTWISE(NAME, EXPRESSION)                                                \
  __global__ void NAME##_kernel(const float* x, const float* y, float* out, int n) { \
    int i = blockIdx.x * blockDim.x + threadIdx.x;                                   \
    if (i < n) {                                                                     \
      float a = x[i], b = y[i];                                                      \
      out[i] = EXPRESSION;                                                           \
    }                                                                                \
  }

ELEMENTWISE(silu_add, a / (1.0f + expf(-a)) + b)
ELEMENTWISE(silu_mul, a / (1.0f + expf(-a)) * b)

torch::Tensor run(torch::Tensor x, torch::Tensor y) {
  auto out = torch::empty_like(x);
  int n = x.numel();
  silu_add_kernel<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), out.data_ptr<float>(), n);
  return out;
}
"""
EXTENSION = load_inline("run_extension", cpp_sources=CPP, cuda_sources=SOURCE, functions=["run"])


def candidate(x, y):
    return EXTENSION.run(x, y)
