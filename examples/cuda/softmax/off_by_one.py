"""Softmax that sums one element too many. Expected: launch_failed, a read out of bounds."""

import torch
from torch.utils.cpp_extension import load_inline

CPP = "torch::Tensor softmax_rows(torch::Tensor x);"
CUDA = r"""
#include <torch/extension.h>

__device__ float join(float value, float* scratch, bool largest) {
  scratch[threadIdx.x] = value;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      float other = scratch[threadIdx.x + half];
      scratch[threadIdx.x] = largest ? fmaxf(scratch[threadIdx.x], other) : scratch[threadIdx.x] + other;
    }
    __syncthreads();
  }
  float result = scratch[0];
  __syncthreads();
  return result;
}

__global__ void softmax(const float* x, float* y, int width) {
  __shared__ float scratch[128];
  const float* row = x + blockIdx.x * width;
  float top = -3.4e38f;
  for (int i = threadIdx.x; i < width; i += blockDim.x) top = fmaxf(top, row[i]);
  top = join(top, scratch, true);
  float sum = 0.0f;
  for (int i = threadIdx.x; i <= width; i += blockDim.x) sum += expf(row[i] - top);
  sum = join(sum, scratch, false);
  for (int i = threadIdx.x; i < width; i += blockDim.x) y[blockIdx.x * width + i] = expf(row[i] - top) / sum;
}

torch::Tensor softmax_rows(torch::Tensor x) {
  auto y = torch::empty_like(x);
  softmax<<<x.size(0), 128>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
  return y;
}
"""
EXTENSION = load_inline("softmax_rows_extension", cpp_sources=CPP, cuda_sources=CUDA, functions=["softmax_rows"])


def candidate(x):
    return EXTENSION.softmax_rows(x)
