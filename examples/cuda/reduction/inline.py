"""The sum of each row by shuffles, as an extension of torch. Passes."""

import torch
from torch.utils.cpp_extension import load_inline

CPP = "torch::Tensor sum_rows(torch::Tensor x);"
CUDA = r"""
#include <torch/extension.h>

__device__ float sum_of_warp(float value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffffu, value, offset);
  return value;
}

__global__ void row_sum(const float* x, float* y, int width) {
  __shared__ float partial[4];
  float sum = 0.0f;
  for (int i = threadIdx.x; i < width; i += blockDim.x) sum += x[blockIdx.x * width + i];
  sum = sum_of_warp(sum);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) y[blockIdx.x] = partial[0] + partial[1] + partial[2] + partial[3];
}

torch::Tensor sum_rows(torch::Tensor x) {
  auto y = torch::empty({x.size(0)}, x.options());
  row_sum<<<x.size(0), 128>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
  return y;
}
"""
EXTENSION = load_inline("sum_rows_extension", cpp_sources=CPP, cuda_sources=CUDA, functions=["sum_rows"])


def candidate(x):
    return EXTENSION.sum_rows(x)
