import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

src = r"""
#include <torch/extension.h>

template <int BLOCK>
__global__ void prod_kernel(const float* __restrict__ x, float* __restrict__ y, int n) {
  __shared__ float s[BLOCK];
  float p = 1.f;
  for (int i = threadIdx.x; i < n; i += BLOCK) p *= x[blockIdx.x * n + i];
  s[threadIdx.x] = p;
  __syncthreads();
  if constexpr (BLOCK >= 128) { if (threadIdx.x < 64) s[threadIdx.x] *= s[threadIdx.x + 64]; __syncthreads(); }
  if constexpr (BLOCK >= 64) { if (threadIdx.x < 32) s[threadIdx.x] *= s[threadIdx.x + 32]; __syncthreads(); }
  if (threadIdx.x < 32) {
    float v = s[threadIdx.x];
    #pragma unroll
    for (int o = 16; o; o >>= 1) v *= __shfl_down_sync(0xffffffff, v, o);
    if (threadIdx.x == 0) y[blockIdx.x] = v;
  }
}

torch::Tensor prod(torch::Tensor x, bool keepdim) {
  auto y = torch::ones({x.size(0)}, x.options());
  const int n = x.size(1);
  switch (n > 256 ? 128 : n > 64 ? 64 : 32) {
    case 128: prod_kernel<128><<<x.size(0), 128>>>(x.data_ptr<float>(), y.data_ptr<float>(), n); break;
    case 64: prod_kernel<64><<<x.size(0), 64>>>(x.data_ptr<float>(), y.data_ptr<float>(), n); break;
    default: prod_kernel<32><<<x.size(0), 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
  }
  return keepdim ? y.unsqueeze(1) : y;
}
"""
e = load_inline(name="prod_ext", cpp_sources="torch::Tensor prod(torch::Tensor x, bool keepdim);", cuda_sources=src, functions=["prod"])


class ModelNew(nn.Module):
    def forward(self, x):
        return e.prod(x, True)
