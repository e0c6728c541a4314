import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

src = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#define CUDA_CHECK(call) do { cudaError_t e = (call); if (e != cudaSuccess) { printf("CUDA error %s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(e)); throw std::runtime_error("cuda"); } } while (0)

template <typename scalar_t>
__global__ void argmax_kernel(const scalar_t* __restrict__ x, int64_t* __restrict__ out, int n) {
  scalar_t best = x[(int64_t)blockIdx.x * n];
  int idx = 0;
  for (int i = threadIdx.x; i < n; i += 32) {
    scalar_t v = x[(int64_t)blockIdx.x * n + i];
    if (v > best) { best = v; idx = i; }
  }
  for (int d = 16; d; d >>= 1) {
    scalar_t ov = __shfl_down_sync(0xffffffff, best, d);
    int oi = __shfl_down_sync(0xffffffff, idx, d);
    if (ov > best || (ov == best && oi < idx)) { best = ov; idx = oi; }
  }
  if (threadIdx.x == 0) out[blockIdx.x] = idx;
}
torch::Tensor argmax(torch::Tensor x, c10::optional<int64_t> dim) {
  TORCH_CHECK_VALUE(dim.has_value(), "dim is required");
  auto moved = x.transpose(*dim, -1).contiguous();
  int n = moved.size(-1);
  auto shape = moved.sizes().vec();
  shape.pop_back();
  auto out = torch::empty(shape, torch::device(x.device()).dtype(torch::kInt64));
  AT_DISPATCH_ALL_TYPES(moved.scalar_type(), "argmax", [&] {
    argmax_kernel<scalar_t><<<out.numel(), 32, 0, at::cuda::getCurrentCUDAStream().stream()>>>(moved.data_ptr<scalar_t>(), out.data_ptr<int64_t>(), n);
  });
  CUDA_CHECK(cudaGetLastError());
  return out;
}
"""
lib = load_inline(name="argmax_lib", cpp_sources="torch::Tensor argmax(torch::Tensor x, c10::optional<int64_t> dim);", cuda_sources=src, functions=["argmax"])


class ModelNew(nn.Module):
    def forward(self, x):
        return lib.argmax(x, x.dim() - 1)
