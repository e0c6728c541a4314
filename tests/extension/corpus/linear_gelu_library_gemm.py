import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

src = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
__global__ void bias_gelu(float* y, const float* b, int cols, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float v = y[i] + b[i % cols];
    y[i] = v * normcdff(v);
  }
}
torch::Tensor forward(torch::Tensor x, torch::Tensor w, torch::Tensor b) {
  torch::Tensor y = torch::mm(x, w.t());
  bias_gelu<<<(y.numel() + 255) / 256, 256, 0, at::cuda::getCurrentCUDAStream()>>>(y.data_ptr<float>(), b.data_ptr<float>(), y.size(1), y.numel());
  return y;
}
"""
lib = load_inline(name="linear_gelu_mm", cpp_sources="torch::Tensor forward(torch::Tensor x, torch::Tensor w, torch::Tensor b);", cuda_sources=src, functions=["forward"])


class ModelNew(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(o, i))
        self.bias = nn.Parameter(torch.empty(o))

    def forward(self, x):
        with torch.no_grad():
            return lib.forward(x, self.weight, self.bias)
