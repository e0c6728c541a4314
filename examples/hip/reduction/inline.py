"""Sum as an extension of torch, in two kernels. Passes."""

import torch
from torch.utils.cpp_extension import load_inline

HIP = r"""
#include <torch/extension.h>
#include <hip/hip_runtime.h>

__global__ void add_up(const float* x, float* partial, int n) {
  __shared__ float sums[64];
  float sum = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i];
  for (int d = warpSize / 2; d > 0; d /= 2) sum += __shfl_down(sum, d);
  if (threadIdx.x % warpSize == 0) sums[threadIdx.x / warpSize] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    float all = 0.0f;
    for (int w = 0; w < blockDim.x / warpSize; ++w) all += sums[w];
    partial[blockIdx.x] = all;
  }
}

torch::Tensor total(torch::Tensor x) {
  int n = x.numel(), blocks = 8;
  auto partial = torch::empty({blocks}, x.options());
  auto result = torch::empty({1}, x.options());
  add_up<<<blocks, 256>>>(x.data_ptr<float>(), partial.data_ptr<float>(), n);
  add_up<<<1, 256>>>(partial.data_ptr<float>(), result.data_ptr<float>(), blocks);
  return result;
}
"""
extension = load_inline(
    "sum_hip", cpp_sources="torch::Tensor total(torch::Tensor x);", cuda_sources=HIP, functions=["total"]
)


def candidate(x):
    return extension.total(x)
