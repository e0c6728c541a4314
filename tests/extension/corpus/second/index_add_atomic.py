import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

src = r"""
#include <torch/extension.h>
template <typename scalar_t, typename index_t>
__global__ void index_add_kernel(scalar_t* out, const index_t* idx, const scalar_t* src, int rows, int cols) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < rows * cols; i += blockDim.x * gridDim.x)
    atomicAdd(&out[idx[i / cols] * cols + i % cols], src[i]);
}
torch::Tensor index_add(torch::Tensor base, torch::Tensor idx, torch::Tensor src) {
  auto out = base.clone();
  AT_DISPATCH_FLOATING_TYPES(base.scalar_type(), "index_add", [&] {
    AT_DISPATCH_INDEX_TYPES(idx.scalar_type(), "index_add_index", [&] {
      index_add_kernel<scalar_t, index_t><<<8, 128>>>(out.data_ptr<scalar_t>(), idx.data_ptr<index_t>(), src.data_ptr<scalar_t>(), src.size(0), src.size(1));
    });
  });
  return out;
}
"""
ext = load_inline(name="index_add", cpp_sources="torch::Tensor index_add(torch::Tensor base, torch::Tensor idx, torch::Tensor src);", cuda_sources=src, functions=["index_add"])


class ModelNew(nn.Module):
    def forward(self, base, idx, src):
        return ext.index_add(base, idx, src)
