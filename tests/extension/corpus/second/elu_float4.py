import torch
from torch import nn
from torch.utils.cpp_extension import load_inline

_src = """
#include <torch/extension.h>

__device__ __forceinline__ float elu1(float v, float a) { return v > 0.f ? v : a * expm1f(v); }

__global__ void __launch_bounds__(256) elu_vec(const float4* __restrict__ x, float4* __restrict__ y, int n4, float alpha) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n4) return;
  float4 v = __ldg(x + i);
  v.x = elu1(v.x, alpha); v.y = elu1(v.y, alpha); v.z = elu1(v.z, alpha); v.w = elu1(v.w, alpha);
  y[i] = v;
}
__global__ void elu_tail(const float* x, float* y, int begin, int n, float alpha) {
  int i = begin + blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = elu1(x[i], alpha);
}

torch::Tensor elu(torch::Tensor x, double alpha) {
  x = x.contiguous();
  auto y = torch::empty(x.sizes(), x.options());
  const int n = static_cast<int>(x.numel());
  const int n4 = n / 4;
  if (n4 > 0) {
    elu_vec<<<(n4 + 255) / 256, 256>>>(reinterpret_cast<const float4*>(x.data_ptr<float>()),
                                       reinterpret_cast<float4*>(y.data_ptr<float>()), n4, (float)alpha);
  }
  if (n % 4) elu_tail<<<1, 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), n4 * 4, n, (float)alpha);
  return y;
}
"""
mod = load_inline("elu_mod", ["torch::Tensor elu(torch::Tensor x, double alpha);"], [_src], functions=["elu"], extra_cuda_cflags=["-O3", "--use_fast_math"])


class ModelNew(nn.Module):
    def __init__(self, alpha=1.0):
        super().__init__()
        self.alpha = alpha

    def forward(self, x):
        return mod.elu(x, self.alpha)
