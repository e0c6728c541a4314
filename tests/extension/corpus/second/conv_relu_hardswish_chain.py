import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

src = r"""
#include <torch/extension.h>
__global__ void relu_hs(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { float v = fmaxf(x[i], 0.f); x[i] = v * fminf(fmaxf(v + 3.f, 0.f), 6.f) / 6.f; }
}
torch::Tensor chain(torch::Tensor x, torch::Tensor w, torch::Tensor b) {
  auto y = torch::conv2d(x, w, b, /*stride=*/1, /*padding=*/1);
  relu_hs<<<(y.numel() + 255) / 256, 256>>>(y.data_ptr<float>(), y.numel());
  return y;
}
"""
ext = load_inline(name="crh", cpp_sources="torch::Tensor chain(torch::Tensor x, torch::Tensor w, torch::Tensor b);", cuda_sources=src, functions=["chain"])


class ModelNew(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.conv = nn.Conv2d(i, o, 3, padding=1)

    def forward(self, x):
        return ext.chain(x, self.conv.weight, self.conv.bias)
