import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

src = r"""
#include <torch/extension.h>
template <typename scalar_t>
__global__ void masked_fill(scalar_t* x, const uint8_t* m, scalar_t v, size_t n) {
  size_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && m[i]) x[i] = v;
}
torch::Tensor fill(torch::Tensor x, torch::Tensor mask, double value) {
  auto y = x.clone(), m = mask.expand_as(x).to(torch::kUInt8).contiguous();
  AT_DISPATCH_FLOATING_TYPES_AND2(torch::kHalf, torch::kBFloat16, x.scalar_type(), "fill", [&] {
    masked_fill<scalar_t><<<(y.numel() + 255) / 256, 256>>>(y.data_ptr<scalar_t>(), m.data_ptr<uint8_t>(), static_cast<scalar_t>(value), y.numel());
  });
  return y;
}
"""
ext = load_inline(name="mfill", cpp_sources="torch::Tensor fill(torch::Tensor x, torch::Tensor mask, double value);", cuda_sources=src, functions=["fill"])


class ModelNew(nn.Module):
    def forward(self, x, mask):
        return ext.fill(x, mask, -1e4)
