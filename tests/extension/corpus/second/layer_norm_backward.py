import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

src = r"""
#include <torch/extension.h>
__device__ float2 warp_sum2(float2 v) {
  for (int o = 16; o; o >>= 1) { v.x += __shfl_xor_sync(0xffffffff, v.x, o); v.y += __shfl_xor_sync(0xffffffff, v.y, o); }
  return v;
}
__global__ void ln_bwd(const float* dy, const float* x, const float* g, float* dx, float* dg, float* db, int n, float eps) {
  const int row = blockIdx.x, lane = threadIdx.x;
  const float* xr = x + row * n; const float* dyr = dy + row * n;
  float2 s = make_float2(0.f, 0.f);
  for (int i = lane; i < n; i += 32) { s.x += xr[i]; s.y += xr[i] * xr[i]; }
  s = warp_sum2(s);
  float mean = s.x / n, rstd = rsqrtf(s.y / n - mean * mean + eps);
  float2 t = {0.f, 0.f};
  for (int i = lane; i < n; i += 32) {
    float xh = (xr[i] - mean) * rstd, gi = dyr[i] * g[i];
    t.x += gi; t.y += gi * xh;
    atomicAdd(dg + i, dyr[i] * xh);
    atomicAdd(db + i, dyr[i]);
  }
  t = warp_sum2(t);
  for (int i = lane; i < n; i += 32) {
    float xh = (xr[i] - mean) * rstd;
    dx[row * n + i] = rstd * (dyr[i] * g[i] - t.x / n - xh * t.y / n);
  }
}
std::tuple<at::Tensor, at::Tensor, at::Tensor> backward(at::Tensor dy, at::Tensor x, at::Tensor gamma, double eps) {
  auto dx = at::empty_like(x);
  auto dg = at::zeros_like(gamma), db = at::zeros_like(gamma);
  ln_bwd<<<x.size(0), 32>>>(dy.data_ptr<float>(), x.data_ptr<float>(), gamma.data_ptr<float>(), dx.data_ptr<float>(), dg.data_ptr<float>(), db.data_ptr<float>(), x.size(1), eps);
  return std::tuple<at::Tensor, at::Tensor, at::Tensor>(dx, dg, db);
}
"""
ext = load_inline(name="lnb", cpp_sources="std::tuple<at::Tensor, at::Tensor, at::Tensor> backward(at::Tensor dy, at::Tensor x, at::Tensor gamma, double eps);", cuda_sources=src, functions=["backward"])


class ModelNew(nn.Module):
    def forward(self, dy, x, gamma):
        return torch.cat([g.reshape(-1) for g in ext.backward(dy, x, gamma, 1e-5)])
