import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

src = r"""
#include <torch/extension.h>
#include <limits>

template <typename scalar_t>
__global__ void min_kernel(torch::PackedTensorAccessor64<scalar_t, 2> x, torch::PackedTensorAccessor64<scalar_t, 1> v, torch::PackedTensorAccessor64<int64_t, 1> idx) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= x.size(0)) return;
  scalar_t best = std::numeric_limits<scalar_t>::max();
  int64_t at = 0;
  for (int64_t c = 0; c < x.size(1); ++c) if (x[r][c] < best) { best = x[r][c]; at = c; }
  v[r] = best;
  idx[r] = at;
}

std::tuple<at::Tensor, at::Tensor> min_last(const at::Tensor& x) {
  auto v = at::empty({x.size(0)}, x.options());
  auto idx = at::empty({x.size(0)}, x.options().dtype(at::kLong));
  AT_DISPATCH_ALL_TYPES(x.scalar_type(), "min_last", [&] {
    min_kernel<scalar_t><<<(x.size(0) + 31) / 32, 32>>>(x.packed_accessor64<scalar_t, 2>(), v.packed_accessor64<scalar_t, 1>(), idx.packed_accessor64<int64_t, 1>());
  });
  return {v, idx};
}
TORCH_LIBRARY_FRAGMENT(kernels_min, m) { m.def("unused(Tensor x) -> Tensor"); }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("min_last", &min_last); }
"""
ext = load_inline(name="min_pair", cpp_sources="", cuda_sources=src)


class ModelNew(nn.Module):
    def forward(self, x):
        values, indices = ext.min_last(x)
        return values + indices
