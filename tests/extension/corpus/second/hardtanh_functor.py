import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

code = r"""
#include <torch/types.h>
#include <cuda_runtime.h>

template <typename T>
struct Clamp {
  T lo, hi;
  __host__ __device__ T operator()(T v) const { return v < lo ? lo : (v > hi ? hi : v); }
};

template <typename T, typename Op>
__global__ void apply(const T* in, T* out, int n, Op op) {
  int i = blockDim.x * blockIdx.x + threadIdx.x;
  if (i < n) out[i] = op(in[i]);
}

template <typename T, typename Op>
void launch_apply(const torch::Tensor& in, torch::Tensor& out, Op op) {
  int n = in.numel(), min_grid = 0, block = 0;
  cudaOccupancyMaxPotentialBlockSize(&min_grid, &block, apply<T, Op>, 0, 0);
  apply<T, Op><<<(n + block - 1) / block, block>>>(in.data_ptr<T>(), out.data_ptr<T>(), n, op);
}

torch::Tensor hardtanh(torch::Tensor x, float lo, float hi) {
  auto y = torch::empty_like(x);
  launch_apply<float>(x, y, Clamp<float>{lo, hi});
  auto err = cudaGetLastError();
  if (err != cudaSuccess) throw std::runtime_error(cudaGetErrorString(err));
  return y;
}
"""
lib = load_inline(name="hardtanh_lib", cpp_sources="torch::Tensor hardtanh(torch::Tensor x, float lo, float hi);", cuda_sources=code, functions=["hardtanh"])


class ModelNew(nn.Module):
    def __init__(self, low, high):
        super().__init__()
        self.low, self.high = low, high

    def forward(self, x):
        return lib.hardtanh(x, self.low, self.high)
