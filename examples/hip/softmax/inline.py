"""Softmax as an extension of torch, with hipLaunchKernelGGL. Passes."""

import torch
from torch.utils.cpp_extension import load_inline

HIP = r"""
#include <torch/extension.h>
#include <hip/hip_runtime.h>

__global__ void softmax_row(const float* x, float* y, int width) {
  const float* row = x + blockIdx.x * width;
  float largest = -INFINITY, sum = 0.0f;
  for (int i = threadIdx.x; i < width; i += blockDim.x) largest = fmaxf(largest, row[i]);
  for (int d = warpSize / 2; d > 0; d /= 2) largest = fmaxf(largest, __shfl_xor(largest, d));
  for (int i = threadIdx.x; i < width; i += blockDim.x) sum += expf(row[i] - largest);
  for (int d = warpSize / 2; d > 0; d /= 2) sum += __shfl_xor(sum, d);
  for (int i = threadIdx.x; i < width; i += blockDim.x) y[blockIdx.x * width + i] = expf(row[i] - largest) / sum;
}

torch::Tensor softmax(torch::Tensor x) {
  TORCH_CHECK(x.dim() == 2, "expected a matrix");
  auto y = torch::empty_like(x);
  int lanes = 0;
  hipDeviceGetAttribute(&lanes, hipDeviceAttributeWarpSize, 0);
  hipLaunchKernelGGL(softmax_row, dim3(x.size(0)), dim3(lanes), 0, 0, x.data_ptr<float>(), y.data_ptr<float>(),
                     static_cast<int>(x.size(1)));
  return y;
}
"""
extension = load_inline(
    "softmax_hip", cpp_sources="torch::Tensor softmax(torch::Tensor x);", cuda_sources=HIP, functions=["softmax"]
)


def candidate(x):
    return extension.softmax(x)
