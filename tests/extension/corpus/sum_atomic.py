import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

src = r"""
#include <torch/extension.h>
__global__ void sum_all(const float* x, float* out, int64_t n) {
  __shared__ float cache[256];
  float v = 0.f;
  for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (int64_t)blockDim.x * gridDim.x) v += x[i];
  cache[threadIdx.x] = v;
  __syncthreads();
  for (int i = blockDim.x / 2; i != 0; i /= 2) {
    if (threadIdx.x < i) cache[threadIdx.x] += cache[threadIdx.x + i];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(out, cache[0]);
}
torch::Tensor sum_all_cuda(torch::Tensor x) {
  auto out = torch::zeros({}, x.options());
  sum_all<<<8, 256>>>(x.data_ptr<float>(), out.data_ptr<float>(), x.numel());
  return out;
}
"""
lib = load_inline(name="sum_atomic", cpp_sources=["torch::Tensor sum_all_cuda(torch::Tensor x);"], cuda_sources=[src], functions=["sum_all_cuda"])


class ModelNew(nn.Module):
    def forward(self, x):
        return lib.sum_all_cuda(x)
