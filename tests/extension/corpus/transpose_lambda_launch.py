import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

src = r"""
#include <torch/extension.h>
template <typename F>
__global__ void for_each(int n, F f) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) f(i);
}
template <typename F>
void launch(int n, F f) { for_each<<<(n + 255) / 256, 256>>>(n, f); }

torch::Tensor transpose(torch::Tensor x) {
  auto y = torch::empty({x.size(1), x.size(0)}, x.options());
  const float* in = x.data_ptr<float>();
  float* out = y.data_ptr<float>();
  const int rows = x.size(0), cols = x.size(1);
  launch(rows * cols, [=] __device__(int i) { out[(i % cols) * rows + i / cols] = in[i]; });
  return y;
}
"""
lib = load_inline(name="transpose_lambda", cpp_sources="torch::Tensor transpose(torch::Tensor x);", cuda_sources=src, functions=["transpose"], extra_cuda_cflags=["--extended-lambda"])


class ModelNew(nn.Module):
    def forward(self, x):
        return lib.transpose(x)
