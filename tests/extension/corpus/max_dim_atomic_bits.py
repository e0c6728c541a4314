import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

src = r"""
#include <torch/extension.h>
__device__ __forceinline__ unsigned encode(float f) {
  unsigned u = __float_as_uint(f);
  return (u & 0x80000000u) ? ~u : (u | 0x80000000u);
}
__device__ __forceinline__ float decode(unsigned u) { return __uint_as_float((u & 0x80000000u) ? (u & 0x7fffffffu) : ~u); }
__global__ void fold(const float* x, unsigned* keys, int cols, int total) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < total) atomicMax(&keys[i / cols], encode(x[i]));
}
__global__ void unfold_keys(const unsigned* keys, float* y, int rows) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows) y[i] = decode(keys[i]);
}
torch::Tensor max_last(torch::Tensor x) {
  auto shape = x.sizes().vec();
  int cols = shape.back();
  shape.pop_back();
  int rows = x.numel() / cols;
  auto keys = torch::zeros({rows}, x.options().dtype(torch::kInt32));
  auto y = torch::empty(shape, x.options());
  auto* k = reinterpret_cast<unsigned*>(keys.data_ptr<int32_t>());
  fold<<<(x.numel() + 255) / 256, 256>>>(x.data_ptr<float>(), k, cols, x.numel());
  unfold_keys<<<(rows + 255) / 256, 256>>>(k, y.data_ptr<float>(), rows);
  return y;
}
"""
lib = load_inline(name="max_atomic", cpp_sources="torch::Tensor max_last(torch::Tensor x);", cuda_sources=src, functions=["max_last"])


class ModelNew(nn.Module):
    def forward(self, x):
        return lib.max_last(x)
