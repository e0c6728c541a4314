import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

source = r"""
#include <torch/extension.h>
#define FULL_MASK 0xffffffffu
#define WARPS 4

__inline__ __device__ float warp_sum(float v) {
#pragma unroll
  for (int o = warpSize >> 1; o > 0; o >>= 1) v += __shfl_xor_sync(FULL_MASK, v, o);
  return v;
}

__global__ void normalize_rows(const float* __restrict__ x, float* __restrict__ y, const int rows, const int dim, const float eps) {
  const int warp = threadIdx.y + blockIdx.x * WARPS;
  if (warp >= rows) return;
  const float* xr = x + warp * dim;
  float acc = 0.f;
  for (int i = threadIdx.x; i < dim; i += 32) acc = fmaf(xr[i], xr[i], acc);
  acc = warp_sum(acc);
  const float inv = 1.f / fmaxf(sqrtf(acc), eps);
  for (int i = threadIdx.x; i < dim; i += 32) y[warp * dim + i] = xr[i] * inv;
}

at::Tensor l2norm(at::Tensor x, float eps) {
  auto shape = x.sizes().vec();
  auto flat = x.contiguous().view({-1, x.size(-1)});
  auto out = at::empty_like(flat);
  const int rows = flat.size(0);
  normalize_rows<<<(rows + WARPS - 1) / WARPS, dim3(32, WARPS)>>>(flat.data_ptr<float>(), out.data_ptr<float>(), rows, flat.size(1), eps);
  return out.view(shape);
}
"""
l2 = load_inline("l2norm_mod", "at::Tensor l2norm(at::Tensor x, float eps);", source, functions=["l2norm"])


class ModelNew(nn.Module):
    def forward(self, x):
        return l2.l2norm(x, 1e-12)
