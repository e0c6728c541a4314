import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

src = r"""
#include <torch/extension.h>
__global__ void scan_rows(float* data, int n) {
  float* row = data + blockIdx.x * n;
  float carry = 0.f;
  for (int base = 0; base < n; base += 32) {
    int i = base + threadIdx.x;
    float v = i < n ? row[i] : 0.f;
    for (int o = 1; o < 32; o <<= 1) {
      float u = __shfl_up_sync(0xffffffff, v, o);
      if (threadIdx.x >= o) v += u;
    }
    v += carry;
    if (i < n) row[i] = v;
    carry = __shfl_sync(0xffffffff, v, 31);
  }
}
torch::Tensor reverse_cumsum(torch::Tensor x, int64_t dim) {
  auto work = x.flip({dim}).contiguous().clone();
  scan_rows<<<work.numel() / work.size(-1), 32>>>(work.data_ptr<float>(), work.size(-1));
  return torch::flip(work, {dim});
}
"""
ext = load_inline(name="rcs", cpp_sources="torch::Tensor reverse_cumsum(torch::Tensor x, int64_t dim);", cuda_sources=src, functions=["reverse_cumsum"])


class ModelNew(nn.Module):
    def forward(self, x):
        return ext.reverse_cumsum(x, 1)
