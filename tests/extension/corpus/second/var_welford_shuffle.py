import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

src = r"""
#include <torch/extension.h>
struct WelfordData { float mean, m2; int count; };
__device__ WelfordData combine(WelfordData a, WelfordData b) {
  if (b.count == 0) return a;
  if (a.count == 0) return b;
  float d = b.mean - a.mean;
  int n = a.count + b.count;
  return {a.mean + d * b.count / n, a.m2 + b.m2 + d * d * a.count * b.count / n, n};
}
__global__ void var_kernel(const float* x, float* out, int n, int correction) {
  WelfordData w{0.f, 0.f, 0};
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    float v = x[blockIdx.x * n + i];
    ++w.count;
    float d = v - w.mean;
    w.mean += d / w.count;
    w.m2 += d * (v - w.mean);
  }
  for (int o = 16; o > 0; o >>= 1) {
    WelfordData other{__shfl_down_sync(0xffffffffu, w.mean, o), __shfl_down_sync(0xffffffffu, w.m2, o), __shfl_down_sync(0xffffffffu, w.count, o)};
    w = combine(w, other);
  }
  __shared__ WelfordData sh[8];
  if (threadIdx.x % 32 == 0) sh[threadIdx.x / 32] = w;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int k = 1; k < blockDim.x / 32; ++k) w = combine(w, sh[k]);
    out[blockIdx.x] = w.m2 / (w.count - correction);
  }
}
torch::Tensor variance(torch::Tensor x, int correction) {
  auto out = x.new_empty({x.size(0)});
  var_kernel<<<x.size(0), 128>>>(x.data_ptr<float>(), out.data_ptr<float>(), x.size(1), correction);
  return out;
}
"""
ext = load_inline(name="variance_ext", cpp_sources="torch::Tensor variance(torch::Tensor x, int correction);", cuda_sources=src, functions=["variance"])


class ModelNew(nn.Module):
    def forward(self, x):
        return ext.variance(x, correction=1) if False else ext.variance(x, 1)
