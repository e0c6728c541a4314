import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

src = r"""
#include <torch/extension.h>
#include <ATen/cuda/detail/KernelUtils.h>

__global__ void prelu_fw(const float* x, const float* w, float* y, int n, int channels, int inner) {
  CUDA_KERNEL_LOOP(i, n) {
    int c = (i / inner) % channels;
    float v = x[i];
    y[i] = v >= 0 ? v : v * w[c];
  }
}

torch::Tensor prelu(const torch::Tensor& x, const torch::Tensor& weight) {
  TORCH_CHECK(weight.dim() == 1);
  TORCH_CHECK_EQ(x.size(1), weight.size(0));
  int inner = 1;
  for (int64_t d = 2; d < x.dim(); d++) inner *= x.size(d);
  auto y = torch::empty_like(x);
  prelu_fw<<<at::cuda::detail::GET_BLOCKS(x.numel()), at::cuda::detail::CUDA_NUM_THREADS>>>(
      x.data_ptr<float>(), weight.data_ptr<float>(), y.data_ptr<float>(), x.numel(), x.size(1), inner);
  return y;
}
"""
prelu_ext = load_inline(name="prelu_ext", cpp_sources="torch::Tensor prelu(const torch::Tensor& x, const torch::Tensor& weight);", cuda_sources=src, functions=["prelu"])


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.weight = nn.Parameter(torch.full((channels,), 0.25))

    def forward(self, x):
        return prelu_ext.prelu(x.contiguous(), self.weight)
