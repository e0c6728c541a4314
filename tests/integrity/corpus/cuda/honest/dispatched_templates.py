# /// kengine-corpus
# task = "row_softmax"
# trap = "inline"
# does = "AT_DISPATCH over types, one warp for each row by shuffles, dynamic shared memory."
# ///

import torch
from torch.utils.cpp_extension import load_inline

CODE = r"""
#include <torch/extension.h>

template <typename T>
__global__ void rows_kernel(const T* x, T* y, int rows, int width) {
  int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  const T* from = x + (long)row * width;
  float top = -INFINITY;
  for (int i = threadIdx.x; i < width; i += 32) top = fmaxf(top, (float)from[i]);
#pragma unroll
  for (int step = 16; step; step >>= 1) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, step));
  float sum = 0.0f;
  for (int i = threadIdx.x; i < width; i += 32) sum += expf((float)from[i] - top);
#pragma unroll
  for (int step = 16; step; step >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  for (int i = threadIdx.x; i < width; i += 32) y[(long)row * width + i] = (T)(expf((float)from[i] - top) / sum);
}

torch::Tensor rows(torch::Tensor x) {
  auto y = torch::empty_like(x);
  int n = x.size(0), width = x.size(1);
  dim3 block(32, 2), grid((n + 1) / 2);
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "rows", [&] {
    rows_kernel<scalar_t><<<grid, block>>>(x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), n, width);
  });
  return y;
}
"""
rows = load_inline(
    "rows", cpp_sources="torch::Tensor rows(torch::Tensor x);", cuda_sources=CODE, functions=["rows"]
).rows


def candidate(x):
    return rows(x.contiguous())
