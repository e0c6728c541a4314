import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

src = r"""
#include <torch/extension.h>
#include <cuda_runtime.h>

template <int BLOCK>
__global__ void rms_norm_kernel(const float* x, const float* w, float* y, int d, float eps) {
  static __shared__ float red[BLOCK / 32];
  const float4* x4 = reinterpret_cast<const float4*>(x + (size_t)blockIdx.x * d);
  const float4* w4 = reinterpret_cast<const float4*>(w);
  float4* y4 = reinterpret_cast<float4*>(y + (size_t)blockIdx.x * d);
  float acc = 0.f;
  for (int i = threadIdx.x; i < d / 4; i += BLOCK) {
    float4 v = x4[i];
    acc += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
  }
#pragma unroll
  for (int mask = 16; mask > 0; mask >>= 1) acc += __shfl_xor_sync(0xffffffff, acc, mask);
  if ((threadIdx.x & 31) == 0) red[threadIdx.x >> 5] = acc;
  __syncthreads();
  acc = 0.f;
#pragma unroll
  for (int i = 0; i < BLOCK / 32; ++i) acc += red[i];
  const float scale = rsqrtf(acc / d + eps);
  for (int i = threadIdx.x; i < d / 4; i += BLOCK) {
    float4 v = x4[i], g = w4[i];
    y4[i] = make_float4(v.x * scale * g.x, v.y * scale * g.y, v.z * scale * g.z, v.w * scale * g.w);
  }
}

torch::Tensor rms_norm(torch::Tensor x, torch::Tensor w, float eps) {
  TORCH_CHECK(x.stride(-1) == 1 && x.size(-1) % 4 == 0, "bad layout");
  auto y = torch::empty_like(x);
  const int d = x.size(-1);
  rms_norm_kernel<128><<<x.numel() / d, 128>>>(x.data_ptr<float>(), w.data_ptr<float>(), y.data_ptr<float>(), d, eps);
  return y;
}
"""
rms = load_inline("rms_norm_vec", "torch::Tensor rms_norm(torch::Tensor x, torch::Tensor w, float eps);", src, functions=["rms_norm"])


class ModelNew(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        return rms.rms_norm(x, self.weight, 1e-6)
