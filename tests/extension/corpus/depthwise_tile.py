import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

src = r"""
#include <torch/extension.h>
#define TILE 8
#define K 3
#define HALO (TILE + K - 1)
__global__ void depthwise3x3(const float* x, const float* w, float* y, int C, int H, int W) {
  __shared__ float s[HALO][HALO];
  __shared__ float f[K * K];
  const int plane = blockIdx.z, c = plane % C;
  const int t = threadIdx.y * TILE + threadIdx.x;
  if (t < K * K) f[t] = w[c * K * K + t];
  for (int i = t; i < HALO * HALO; i += TILE * TILE) {
    int r = i / HALO + blockIdx.y * TILE - 1, q = i % HALO + blockIdx.x * TILE - 1;
    s[i / HALO][i % HALO] = (r >= 0 && r < H && q >= 0 && q < W) ? x[(plane * H + r) * W + q] : 0.0f;
  }
  __syncthreads();
  int r = blockIdx.y * TILE + threadIdx.y, q = blockIdx.x * TILE + threadIdx.x;
  if (r >= H || q >= W) return;
  float acc = 0;
  for (int i = 0; i < K; ++i)
    for (int j = 0; j < K; ++j) acc += s[threadIdx.y + i][threadIdx.x + j] * f[i * K + j];
  y[(plane * H + r) * W + q] = acc;
}
at::Tensor forward(at::Tensor x, at::Tensor w) {
  auto y = at::zeros_like(x);
  auto [n, c, h, width] = std::make_tuple(x.size(0), x.size(1), x.size(2), x.size(3));
  depthwise3x3<<<dim3((width + TILE - 1) / TILE, (h + TILE - 1) / TILE, n * c), dim3(TILE, TILE)>>>(x.data_ptr<float>(), w.data_ptr<float>(), y.data_ptr<float>(), c, h, width);
  return y;
}
"""
lib = load_inline(name="depthwise_tile", cpp_sources="at::Tensor forward(at::Tensor x, at::Tensor w);", cuda_sources=src, functions=["forward"])


class ModelNew(nn.Module):
    def __init__(self, c, k):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(c, 1, k, k))

    def forward(self, x):
        return lib.forward(x, self.weight)
