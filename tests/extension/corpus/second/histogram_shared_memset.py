import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

src = r"""
#include <torch/extension.h>
__global__ void hist_kernel(const float* x, int* hist, int n, int bins, float lo, float width) {
  extern __shared__ int local[];
  for (int i = threadIdx.x; i < bins; i += blockDim.x) local[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    int b = (int)floorf((x[i] - lo) / width);
    if (x[i] == lo + width * bins) b = bins - 1;
    if (b >= 0 && b < bins) atomicAdd(local + b, 1);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < bins; i += blockDim.x) if (local[i]) atomicAdd(hist + i, local[i]);
}
torch::Tensor histogram(torch::Tensor x, int64_t bins, double lo, double hi) {
  auto h = torch::empty({bins}, x.options().dtype(torch::kInt));
  cudaMemset(h.data_ptr(), 0, bins * sizeof(int));
  hist_kernel<<<4, 128, bins * sizeof(int)>>>(x.data_ptr<float>(), h.data_ptr<int>(), x.numel(), bins, lo, (hi - lo) / bins);
  return h.to(torch::kFloat);
}
"""
ext = load_inline(name="histo", cpp_sources="torch::Tensor histogram(torch::Tensor x, int64_t bins, double lo, double hi);", cuda_sources=src, functions=["histogram"])


class ModelNew(nn.Module):
    def forward(self, x):
        return ext.histogram(x, 16, -2.0, 2.0)
