import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

src = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>

constexpr int TILE = 16;
__global__ void pw(const float* __restrict__ X, const float* __restrict__ Wt, const float* __restrict__ B, float* __restrict__ Y, int Ci, int Co, int P) {
  __shared__ float xs[TILE][TILE + 1];
  __shared__ float ws[TILE][TILE + 1];
  const int p = blockIdx.x * TILE + threadIdx.x, co = blockIdx.y * TILE + threadIdx.y, n = blockIdx.z;
  float acc = 0.f;
  for (int t = 0; t < (Ci + TILE - 1) / TILE; ++t) {
    const int cx = t * TILE + threadIdx.y, cw = t * TILE + threadIdx.x;
    xs[threadIdx.y][threadIdx.x] = (cx < Ci && p < P) ? X[(n * Ci + cx) * P + p] : 0.f;
    ws[threadIdx.y][threadIdx.x] = (co < Co && cw < Ci) ? Wt[co * Ci + cw] : 0.f;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < TILE; ++k) acc += ws[threadIdx.y][k] * xs[k][threadIdx.x];
    __syncthreads();
  }
  if (co < Co && p < P) Y[(n * Co + co) * P + p] = fmaxf(acc + B[co], 0.f);
}
torch::Tensor pointwise(torch::Tensor x, torch::Tensor weight, torch::Tensor bias) {
  const at::cuda::OptionalCUDAGuard device_guard(device_of(x));
  const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  auto n = x.size(0), ci = x.size(1), h = x.size(2), w = x.size(3), co = weight.size(0);
  auto w2 = weight.reshape({co, ci});
  auto y = torch::empty({n, co, h, w}, x.options());
  pw<<<dim3((h * w + TILE - 1) / TILE, (co + TILE - 1) / TILE, n), dim3(TILE, TILE), 0, stream>>>(x.data_ptr<float>(), w2.data_ptr<float>(), bias.data_ptr<float>(), y.data_ptr<float>(), ci, co, h * w);
  return y;
}
"""
ext = load_inline(name="pointwise", cpp_sources="torch::Tensor pointwise(torch::Tensor x, torch::Tensor weight, torch::Tensor bias);", cuda_sources=src, functions=["pointwise"])


class ModelNew(nn.Module):
    def __init__(self, cin, cout):
        super().__init__()
        self.conv = nn.Conv2d(cin, cout, kernel_size=1)

    def forward(self, x):
        return ext.pointwise(x, self.conv.weight, self.conv.bias)
