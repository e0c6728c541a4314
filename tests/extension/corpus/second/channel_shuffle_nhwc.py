import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

src = r"""
#include <torch/extension.h>
__global__ void shuffle(const float* x, float* y, int64_t n, int C, int groups) {
  int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int c = i % C;
  int64_t pixel = i / C;
  int per = C / groups;
  y[pixel * C + c] = x[pixel * C + (c % groups) * per + c / groups];
}
torch::Tensor channel_shuffle(torch::Tensor x, int64_t groups) {
  auto nhwc = x.permute({0, 2, 3, 1}).contiguous();
  auto out = torch::empty_like(nhwc);
  shuffle<<<(nhwc.numel() + 255) / 256, 256>>>(nhwc.data_ptr<float>(), out.data_ptr<float>(), nhwc.numel(), x.size(1), groups);
  return out.permute({0, 3, 1, 2}).contiguous(at::MemoryFormat::Contiguous);
}
"""
ext = load_inline(name="cshuffle", cpp_sources="torch::Tensor channel_shuffle(torch::Tensor x, int64_t groups);", cuda_sources=src, functions=["channel_shuffle"])


class ModelNew(nn.Module):
    def __init__(self, groups):
        super().__init__()
        self.groups = groups

    def forward(self, x):
        return ext.channel_shuffle(x, self.groups)
