import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

src = r"""
#include <torch/extension.h>
#include <cfloat>
#include <climits>

__device__ __forceinline__ unsigned long long pack(float v, int idx) {
  unsigned int bits = __float_as_uint(v);
  bits = (bits & 0x80000000u) ? ~bits : (bits | 0x80000000u);
  return ((unsigned long long)bits << 32) | (unsigned int)idx;
}

__global__ void argmin_kernel(const float* x, int64_t* out, int outer, int n, int inner) {
  int o = blockIdx.x / inner, k = blockIdx.x % inner;
  __shared__ unsigned long long best;
  if (threadIdx.x == 0) best = ULLONG_MAX;
  __syncthreads();
  unsigned long long mine = ULLONG_MAX;
  for (int i = threadIdx.x; i < n; i += blockDim.x) mine = min(mine, pack(x[(o * n + i) * inner + k], i));
  atomicMin(&best, mine);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = (int64_t)(best & 0xffffffffull);
}

torch::Tensor argmin(torch::Tensor x, int64_t dim) {
  int64_t outer = 1, inner = 1;
  std::vector<int64_t> shape;
  for (int64_t d = 0; d < x.dim(); ++d) {
    if (d < dim) outer *= x.size(d);
    if (d > dim) inner *= x.size(d);
    if (d != dim) shape.push_back(x.size(d));
  }
  auto out = torch::empty(shape, x.options().dtype(torch::kLong));
  argmin_kernel<<<outer * inner, 64>>>(x.data_ptr<float>(), out.data_ptr<int64_t>(), outer, x.size(dim), inner);
  return out;
}
"""
lib = load_inline(name="argmin_lib", cpp_sources="torch::Tensor argmin(torch::Tensor x, int64_t dim);", cuda_sources=src, functions=["argmin"])


class ModelNew(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, x):
        return lib.argmin(x, self.dim)
