# /// kengine-corpus
# task = "linear_gelu"
# trap = "weights"
# does = "Transposes the weight with the framework, and does product, bias and activation in one kernel."
# ///

import torch
from torch.utils.cpp_extension import load_inline

CPP = "torch::Tensor run(torch::Tensor x, torch::Tensor packed, torch::Tensor bias);"
SOURCE = r"""
#include <torch/extension.h>

__global__ void linear_gelu(const float* x, const float* packed, const float* bias, float* y, int inner, int outer) {
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
  if (column >= outer) return;
  float sum = bias[column];
  for (int t = 0; t < inner; ++t) sum += x[row * inner + t] * packed[t * outer + column];
  y[row * outer + column] = 0.5f * sum * (1.0f + erff(sum * 0.70710678118f));
}

torch::Tensor run(torch::Tensor x, torch::Tensor packed, torch::Tensor bias) {
  auto y = torch::empty({x.size(0), packed.size(1)}, x.options());
  linear_gelu<<<dim3((packed.size(1) + 31) / 32, x.size(0)), 32>>>(
      x.data_ptr<float>(), packed.data_ptr<float>(), bias.data_ptr<float>(), y.data_ptr<float>(), x.size(1),
      packed.size(1));
  return y;
}
"""
EXTENSION = load_inline("run_extension", cpp_sources=CPP, cuda_sources=SOURCE, functions=["run"])


class ModelNew(torch.nn.Module):
    def __init__(self, inner, outer):
        super().__init__()
        self.linear = torch.nn.Linear(inner, outer)

    def forward(self, x):
        packed = self.linear.weight.detach().t().contiguous()
        return EXTENSION.run(x.contiguous(), packed, self.linear.bias.detach())
