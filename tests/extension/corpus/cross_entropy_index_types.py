import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

src = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
template <typename scalar_t, typename index_t>
__global__ void nll(const scalar_t* x, const index_t* t, scalar_t* out, int n, int c) {
  const int row = blockIdx.x, lane = threadIdx.x;
  scalar_t m = scalar_t(-1e30);
  for (int i = lane; i < c; i += 32) m = m > x[row * c + i] ? m : x[row * c + i];
  for (int o = 16; o; o >>= 1) { scalar_t v = __shfl_xor_sync(0xffffffffu, m, o); m = m > v ? m : v; }
  scalar_t s = 0;
  for (int i = lane; i < c; i += 32) s += ::exp(x[row * c + i] - m);
  for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(0xffffffffu, s, o);
  if (lane == 0) out[row] = ::log(s) + m - x[row * c + (int)t[row]];
}
at::Tensor loss(at::Tensor x, at::Tensor t, std::string reduction) {
  auto out = at::empty({x.size(0)}, x.options());
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "nll", [&] {
    AT_DISPATCH_INDEX_TYPES(t.scalar_type(), "nll_index", [&] {
      nll<scalar_t, index_t><<<x.size(0), 32, 0, at::cuda::getCurrentCUDAStream()>>>(x.data_ptr<scalar_t>(), t.data_ptr<index_t>(), out.data_ptr<scalar_t>(), x.size(0), x.size(1));
    });
  });
  if (reduction == "mean") return at::mean(out);
  if (reduction == "sum") return out.sum();
  return out;
}
"""
lib = load_inline(name="ce_index", cpp_sources="at::Tensor loss(at::Tensor x, at::Tensor t, std::string reduction);", cuda_sources=src, functions=["loss"])


class ModelNew(nn.Module):
    def forward(self, p, t):
        return lib.loss(p, t.int(), "mean")
