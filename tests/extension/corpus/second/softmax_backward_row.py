import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

src = r"""
#include <torch/extension.h>
template <typename T, int N>
struct alignas(sizeof(T) * N) Vec { T v[N]; };
__global__ void softmax_bwd(const float* __restrict__ gy, const float* __restrict__ y, float* __restrict__ gx, int n) {
  using V = Vec<float, 4>;
  const V* g4 = reinterpret_cast<const V*>(gy + blockIdx.x * n);
  const V* y4 = reinterpret_cast<const V*>(y + blockIdx.x * n);
  V* o4 = reinterpret_cast<V*>(gx + blockIdx.x * n);
  float dot = 0.f;
  for (int i = threadIdx.x; i < n / 4; i += 32) {
    V a = g4[i], b = y4[i];
#pragma unroll
    for (int k = 0; k < 4; ++k) dot += a.v[k] * b.v[k];
  }
#pragma unroll
  for (int o = 1; o < 32; o *= 2) dot += __shfl_xor_sync(-1, dot, o);
  for (int i = threadIdx.x; i < n / 4; i += 32) {
    V a = g4[i], b = y4[i], c;
#pragma unroll
    for (int k = 0; k < 4; ++k) c.v[k] = (a.v[k] - dot) * b.v[k];
    o4[i] = c;
  }
}
at::Tensor softmax_backward(at::Tensor gy, at::Tensor y) {
  AT_ASSERTM(y.size(-1) % 4 == 0, "rows of a multiple of four");
  auto gx = at::empty_like(y);
  softmax_bwd<<<y.numel() / y.size(-1), 32>>>(gy.data<float>(), y.data<float>(), gx.data<float>(), y.size(-1));
  return gx;
}
"""
ext = load_inline(name="smb", cpp_sources="at::Tensor softmax_backward(at::Tensor gy, at::Tensor y);", cuda_sources=src, functions=["softmax_backward"])


class ModelNew(nn.Module):
    def forward(self, gy, y):
        return ext.softmax_backward(gy, y)
