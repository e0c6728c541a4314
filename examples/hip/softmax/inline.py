"""Softmax as an extension of torch, with hipLaunchKernelGGL: four wavefronts for each row. Passes."""

import torch
from torch.utils.cpp_extension import load_inline

HIP = r"""
#include <torch/extension.h>
#include <hip/hip_runtime.h>

__device__ float join(float v, float* scratch, bool maximum) {
  for (int d = warpSize / 2; d > 0; d /= 2) {
    float other = __shfl_xor(v, d);
    v = maximum ? fmaxf(v, other) : v + other;
  }
  if (threadIdx.x % warpSize == 0) scratch[threadIdx.x / warpSize] = v;
  __syncthreads();
  v = scratch[0];
  for (int w = 1; w < blockDim.x / warpSize; ++w) v = maximum ? fmaxf(v, scratch[w]) : v + scratch[w];
  __syncthreads();
  return v;
}

__global__ void softmax_row(const float* x, float* y, int width) {
  __shared__ float scratch[4];
  const float* row = x + blockIdx.x * width;
  float largest = -INFINITY, sum = 0.0f;
  for (int i = threadIdx.x; i < width; i += blockDim.x) largest = fmaxf(largest, row[i]);
  largest = join(largest, scratch, true);
  for (int i = threadIdx.x; i < width; i += blockDim.x) sum += __expf(row[i] - largest);
  sum = join(sum, scratch, false);
  for (int i = threadIdx.x; i < width; i += blockDim.x) y[blockIdx.x * width + i] = __expf(row[i] - largest) / sum;
}

torch::Tensor softmax(torch::Tensor x) {
  TORCH_CHECK(x.dim() == 2, "expected a matrix");
  auto y = torch::empty_like(x);
  int lanes = 0;
  hipDeviceGetAttribute(&lanes, hipDeviceAttributeWarpSize, 0);
  hipLaunchKernelGGL(softmax_row, dim3(x.size(0)), dim3(4 * lanes), 0, 0, x.data_ptr<float>(), y.data_ptr<float>(),
                     static_cast<int>(x.size(1)));
  return y;
}
"""
extension = load_inline(
    "softmax_hip", cpp_sources="torch::Tensor softmax(torch::Tensor x);", cuda_sources=HIP, functions=["softmax"]
)


def candidate(x):
    return extension.softmax(x)
