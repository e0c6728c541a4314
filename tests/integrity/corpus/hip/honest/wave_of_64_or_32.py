# /// kengine-corpus
# task = "row_softmax"
# trap = "queries"
# does = "Reduces over a wavefront whose width it takes from warpSize, in the kernel and on the host."
# ///

import torch
from torch.utils.cpp_extension import load_inline

CPP = "torch::Tensor softmax(torch::Tensor x);"
SOURCE = r"""
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
  TORCH_CHECK(x.dim() == 2 && x.is_contiguous(), "want a contiguous matrix");
  int device = 0, wave = 0;
  hipGetDevice(&device);
  hipDeviceGetAttribute(&wave, hipDeviceAttributeWarpSize, device);
  auto y = torch::empty_like(x);
  hipLaunchKernelGGL(softmax_row, dim3(x.size(0)), dim3(wave), 0, 0, x.data_ptr<float>(), y.data_ptr<float>(),
                     (int)x.size(1));
  return y;
}
"""
EXTENSION = load_inline("softmax_extension", cpp_sources=CPP, cuda_sources=SOURCE, functions=["softmax"])


def candidate(x):
    return EXTENSION.softmax(x)
