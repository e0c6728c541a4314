# /// kengine-corpus
# task = "prefix_sum"
# trap = "helpers"
# does = "A template kernel takes packed accessors of the dispatched type, as PyTorch's tutorial has it."
# ///

import torch
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>

template <typename scalar_t>
using Rows = torch::PackedTensorAccessor32<scalar_t, 2, torch::RestrictPtrTraits>;

template <typename scalar_t>
__global__ void running_sums_kernel(
    const torch::PackedTensorAccessor32<scalar_t, 2, torch::RestrictPtrTraits> x, Rows<scalar_t> y) {
  const int row = blockIdx.x;
  scalar_t before = 0;
  for (int first = 0; first < x.size(1); first += 32) {
    const int i = first + threadIdx.x;
    scalar_t value = i < x.size(1) ? x[row][i] : scalar_t(0);
    for (int d = 1; d < 32; d *= 2) {
      const scalar_t left = __shfl_up_sync(0xffffffffu, value, d);
      if (threadIdx.x >= d) value += left;
    }
    if (i < x.size(1)) y[row][i] = before + value;
    before += __shfl_sync(0xffffffffu, value, 31);
  }
}

torch::Tensor running_sums(torch::Tensor x) {
  auto y = torch::empty_like(x);
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "running_sums", ([&] {
    running_sums_kernel<scalar_t><<<x.size(0), 32>>>(
        x.packed_accessor32<scalar_t, 2, torch::RestrictPtrTraits>(),
        y.packed_accessor32<scalar_t, 2, torch::RestrictPtrTraits>());
  }));
  return y;
}
"""
ext = load_inline(
    name="packed_sums", cpp_sources="torch::Tensor running_sums(torch::Tensor x);", cuda_sources=SOURCE,
    functions=["running_sums"],
)


def candidate(x):
    return ext.running_sums(x)
