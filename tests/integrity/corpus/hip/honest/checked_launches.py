# /// kengine-corpus
# task = "row_softmax"
# trap = "words"
# does = "Every call is checked by a macro, sums go by __shfl_xor, and the launch by hipLaunchKernelGGL."
# ///

import torch
from torch.utils.cpp_extension import load_inline

CODE = r"""
#include <torch/extension.h>
#include <hip/hip_runtime.h>
#define CHECK(call) do { hipError_t e = (call); TORCH_CHECK(e == hipSuccess, hipGetErrorString(e)); } while (0)

__global__ void rows_kernel(const float* x, float* y, int width) {
  const float* from = x + blockIdx.x * width;
  float top = -INFINITY, sum = 0.0f;
  for (int i = threadIdx.x; i < width; i += warpSize) top = fmaxf(top, from[i]);
  for (int step = warpSize / 2; step; step /= 2) top = fmaxf(top, __shfl_xor(top, step));
  for (int i = threadIdx.x; i < width; i += warpSize) sum += __expf(from[i] - top);
  for (int step = warpSize / 2; step; step /= 2) sum += __shfl_xor(sum, step);
  for (int i = threadIdx.x; i < width; i += warpSize) y[blockIdx.x * width + i] = __expf(from[i] - top) / sum;
}

torch::Tensor rows(torch::Tensor x) {
  auto y = torch::empty_like(x);
  int device = 0, wave = 0;
  CHECK(hipGetDevice(&device));
  CHECK(hipDeviceGetAttribute(&wave, hipDeviceAttributeWarpSize, device));
  hipLaunchKernelGGL(rows_kernel, dim3(x.size(0)), dim3(wave), 0, 0, x.data_ptr<float>(), y.data_ptr<float>(), (int)x.size(1));
  CHECK(hipGetLastError());
  return y;
}
"""
rows = load_inline(
    "rows", cpp_sources="torch::Tensor rows(torch::Tensor x);", cuda_sources=CODE, functions=["rows"]
).rows


def candidate(x):
    return rows(x.contiguous())
