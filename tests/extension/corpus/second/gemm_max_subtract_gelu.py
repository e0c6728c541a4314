import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

src = r"""
#include <torch/extension.h>
__device__ __forceinline__ float gelu_exact(float x) { return 0.5f * x * (1.0f + erff(x * 0.70710678118654752440f)); }
__global__ void rowmax_sub_gelu(const float* x, float* y, int n) {
  __shared__ float sm[128];
  float m = -INFINITY;
  for (int i = threadIdx.x; i < n; i += blockDim.x) m = fmaxf(m, x[blockIdx.x * n + i]);
  sm[threadIdx.x] = m;
  __syncthreads();
  for (int s = 64; s > 0; s >>= 1) { if (threadIdx.x < s) sm[threadIdx.x] = fmaxf(sm[threadIdx.x], sm[threadIdx.x + s]); __syncthreads(); }
  m = sm[0];
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[blockIdx.x * n + i] = gelu_exact(x[blockIdx.x * n + i] - m);
}
torch::Tensor fused(torch::Tensor x, torch::Tensor weight, torch::Tensor bias) {
  auto z = torch::addmm(bias, x, weight.t());
  auto y = torch::empty_like(z);
  rowmax_sub_gelu<<<z.size(0), 128>>>(z.data_ptr<float>(), y.data_ptr<float>(), z.size(1));
  return y;
}
"""
ext = load_inline(name="gmsg", cpp_sources="torch::Tensor fused(torch::Tensor x, torch::Tensor weight, torch::Tensor bias);", cuda_sources=src, functions=["fused"])


class ModelNew(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.linear = nn.Linear(i, o)

    def forward(self, x):
        return ext.fused(x, self.linear.weight, self.linear.bias)
