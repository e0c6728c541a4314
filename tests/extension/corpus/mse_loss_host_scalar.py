import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

src = r"""
#include <torch/extension.h>
__global__ void sq(const float2* a, const float2* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = 0.f;
  if (i < n) { float2 p = a[i], q = b[i]; float dx = p.x - q.x, dy = p.y - q.y; v = dx * dx + dy * dy; }
  unsigned mask = __ballot_sync(0xffffffffu, i < n);
  for (int o = 16; o; o >>= 1) v += __shfl_down_sync(0xffffffffu, v, o);
  if ((threadIdx.x & 31) == 0 && mask) out[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = v;
}
double loss(torch::Tensor a, torch::Tensor b) {
  int n = a.numel() / 2;
  auto parts = torch::zeros({(n + 31) / 32 + 8}, a.options());
  sq<<<(n + 127) / 128, 128>>>(reinterpret_cast<float2*>(a.data_ptr<float>()), (float2*)b.data_ptr<float>(), parts.data_ptr<float>(), n);
  return parts.sum().item<double>() / a.numel();
}
"""
lib = load_inline(name="mse_scalar", cpp_sources="double loss(torch::Tensor a, torch::Tensor b);", cuda_sources=src, functions=["loss"])


class ModelNew(nn.Module):
    def forward(self, p, t):
        return torch.tensor(lib.loss(p, t))
