"""Linear layer and GELU with a weight that is transposed and padded to whole tiles once for each version of it."""

# /// kengine-corpus
# task = "linear_gelu"
# trap = "weights"
# does = "F.pad and transpose on the weight, kept in a buffer until the parameter changes; the kernel multiplies, adds and activates."
# ///

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.cpp_extension import load_inline

CPP = "torch::Tensor linear_gelu(torch::Tensor x, torch::Tensor wt, torch::Tensor b, int64_t outer);"
HIP = r"""
#include <torch/extension.h>
#include <hip/hip_runtime.h>
#define TILE 16

__global__ void linear_gelu_kernel(const float* x, const float* wt, const float* b, float* y, int rows, int inner,
                                   int outer, int padded) {
  __shared__ float left[TILE][TILE], right[TILE][TILE];
  int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
  float sum = 0.0f;
  for (int start = 0; start < inner; start += TILE) {
    int i = start + threadIdx.x, j = start + threadIdx.y;
    left[threadIdx.y][threadIdx.x] = row < rows && i < inner ? x[row * inner + i] : 0.0f;
    right[threadIdx.y][threadIdx.x] = j < inner ? wt[j * padded + column] : 0.0f;
    __syncthreads();
    for (int t = 0; t < TILE; ++t) sum += left[threadIdx.y][t] * right[t][threadIdx.x];
    __syncthreads();
  }
  if (row < rows && column < outer) {
    sum += b[column];
    y[row * outer + column] = 0.5f * sum * (1.0f + erff(sum * 0.70710678f));
  }
}

torch::Tensor linear_gelu(torch::Tensor x, torch::Tensor wt, torch::Tensor b, int64_t outer) {
  int rows = x.size(0), inner = x.size(1), padded = wt.size(1);
  auto y = torch::empty({rows, outer}, x.options());
  dim3 grid(padded / TILE, (rows + TILE - 1) / TILE), block(TILE, TILE);
  linear_gelu_kernel<<<grid, block>>>(x.data_ptr<float>(), wt.data_ptr<float>(), b.data_ptr<float>(),
                                      y.data_ptr<float>(), rows, inner, outer, padded);
  return y;
}
"""
extension = load_inline("linear_gelu_extension", cpp_sources=CPP, cuda_sources=HIP, functions=["linear_gelu"])


class ModelNew(nn.Module):
    def __init__(self, inner, outer):
        super().__init__()
        self.linear = nn.Linear(inner, outer)
        self._packed = None
        self._packed_for = None

    @torch.no_grad()
    def packed(self):
        weight = self.linear.weight
        version = weight.data_ptr(), weight._version
        if self._packed_for != version:
            self._packed = F.pad(weight.t(), (0, -weight.shape[0] % 16)).contiguous()
            self._packed_for = version
        return self._packed

    def forward(self, x):
        return extension.linear_gelu(x.contiguous(), self.packed(), self.linear.bias, self.linear.out_features)
