import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

src = r"""
#include <torch/extension.h>
__global__ void scan_rows(const float* x, float* y, int n) {
  extern __shared__ float temp[];
  int t = threadIdx.x, in = 0, out = 1;
  temp[t] = t < n ? x[blockIdx.x * n + t] : 0.f;
  __syncthreads();
  for (int offset = 1; offset < blockDim.x; offset <<= 1) {
    float v = temp[in * blockDim.x + t];
    if (t >= offset) v += temp[in * blockDim.x + t - offset];
    temp[out * blockDim.x + t] = v;
    __syncthreads();
    out = in; in = 1 - in;
  }
  if (t < n) y[blockIdx.x * n + t] = temp[in * blockDim.x + t];
}
torch::Tensor cumsum(torch::Tensor x) {
  int n = x.size(1);
  TORCH_CHECK(n <= 1024, "row too long");
  int threads = 1;
  while (threads < n) threads *= 2;
  auto y = torch::empty_like(x);
  cudaFuncSetAttribute(scan_rows, cudaFuncAttributeMaxDynamicSharedMemorySize, 2 * threads * (int)sizeof(float));
  scan_rows<<<x.size(0), threads, 2 * threads * sizeof(float)>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
  return y;
}
"""
lib = load_inline(name="cumsum_hs", cpp_sources="torch::Tensor cumsum(torch::Tensor x);", cuda_sources=src, functions=["cumsum"])


class ModelNew(nn.Module):
    def forward(self, x):
        return lib.cumsum(x)
