import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

src = r"""
#include <torch/extension.h>
template <typename T>
__device__ T warp_inclusive(T v, int lane) {
  for (int d = 1; d < 32; d *= 2) {
    T o = __shfl_up_sync(0xffffffffu, v, d);
    if (lane >= d) v += o;
  }
  return v;
}
template <typename T>
__global__ void cumsum_kernel(const T* x, T* y, int64_t n) {
  const int lane = threadIdx.x & 31, w = threadIdx.x >> 5;
  __shared__ T sums[4];
  __shared__ T carry;
  if (threadIdx.x == 0) carry = T(0);
  __syncthreads();
  for (int64_t base = 0; base < n; base += blockDim.x) {
    int64_t i = base + threadIdx.x;
    T v = i < n ? x[blockIdx.x * n + i] : T(0);
    v = warp_inclusive(v, lane);
    if (lane == 31) sums[w] = v;
    __syncthreads();
    T before = carry;
    for (int k = 0; k < w; ++k) before += sums[k];
    if (i < n) y[blockIdx.x * n + i] = before + v;
    __syncthreads();
    if (threadIdx.x == blockDim.x - 1) carry = before + v;
    __syncthreads();
  }
}
at::Tensor cumsum_forward(at::Tensor x, int64_t dim) {
  auto m = x.movedim(dim, -1).contiguous();
  auto y = at::empty_like(m);
  AT_DISPATCH_ALL_TYPES_AND2(at::kHalf, at::kBFloat16, m.scalar_type(), "cumsum", [&] {
    if constexpr (std::is_same_v<scalar_t, float> || std::is_same_v<scalar_t, double>) {
      cumsum_kernel<scalar_t><<<m.numel() / m.size(-1), 128>>>(m.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), m.size(-1));
    } else {
      TORCH_CHECK(false, "cumsum: unsupported type ", m.scalar_type());
    }
  });
  return y.movedim(-1, dim);
}
"""
lib = load_inline(name="cumsum_warp", cpp_sources="at::Tensor cumsum_forward(at::Tensor x, int64_t dim);", cuda_sources=src, functions=["cumsum_forward"])


class ModelNew(nn.Module):
    def forward(self, x):
        return lib.cumsum_forward(x, 1)
