import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

src = r"""
#include <torch/extension.h>
#include <c10/cuda/CUDAGuard.h>
#include <ATen/cuda/CUDAContext.h>
#include <limits>

#define WARP_SIZE 32
#define FULL_MASK 0xffffffffu

template <typename T> __device__ __forceinline__ T warp_max(T v) {
#pragma unroll
  for (int o = WARP_SIZE / 2; o > 0; o /= 2) v = max(v, __shfl_xor_sync(FULL_MASK, v, o));
  return v;
}
template <typename T> __device__ __forceinline__ T warp_sum(T v) {
#pragma unroll
  for (int o = WARP_SIZE / 2; o > 0; o /= 2) v += __shfl_xor_sync(FULL_MASK, v, o, WARP_SIZE);
  return v;
}

template <typename scalar_t, int WARPS>
__global__ void softmax_warp(const scalar_t* __restrict__ x, scalar_t* __restrict__ y, int rows, int cols) {
  const int row = blockIdx.x * WARPS + threadIdx.y;
  if (row >= rows) return;
  x += (int64_t)row * cols;
  y += (int64_t)row * cols;
  scalar_t m = -std::numeric_limits<scalar_t>::infinity();
  for (int c = threadIdx.x; c < cols; c += WARP_SIZE) m = max(m, x[c]);
  m = warp_max(m);
  scalar_t s = 0;
  for (int c = threadIdx.x; c < cols; c += WARP_SIZE) s += exp(x[c] - m);
  s = warp_sum(s);
  for (int c = threadIdx.x; c < cols; c += WARP_SIZE) y[c] = exp(x[c] - m) / s;
}

torch::Tensor softmax_forward(const torch::Tensor& input, int64_t dim) {
  const at::cuda::OptionalCUDAGuard device_guard(device_of(input));
  if (dim < 0) dim += input.dim();
  TORCH_CHECK(dim == input.dim() - 1, "softmax over the last dimension only, got dim=", dim);
  auto x = input.contiguous();
  auto y = torch::empty_like(x);
  const int cols = x.size(-1);
  const int rows = x.numel() / cols;
  constexpr int WARPS = 4;
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "softmax_forward", [&] {
    softmax_warp<scalar_t, WARPS><<<(rows + WARPS - 1) / WARPS, dim3(WARP_SIZE, WARPS), 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), rows, cols);
  });
  AT_CUDA_CHECK(cudaGetLastError());
  return y;
}
"""
ext = load_inline(
    name="softmax_warp",
    cpp_sources="torch::Tensor softmax_forward(const torch::Tensor& input, int64_t dim);",
    cuda_sources=src,
    functions=["softmax_forward"],
    extra_cuda_cflags=["-O3", "-std=c++17"],
)


class ModelNew(nn.Module):
    def forward(self, x):
        return ext.softmax_forward(x, -1)
