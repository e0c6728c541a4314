import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

src = r"""
#include <torch/extension.h>
#include <numeric>
__global__ void row_mean(const float* x, float* y, int n) {
  float s = 0;
  for (int i = threadIdx.x; i < n; i += 32) s += x[blockIdx.x * n + i];
  s += __shfl_xor_sync(~0u, s, 16); s += __shfl_xor_sync(~0u, s, 8); s += __shfl_xor_sync(~0u, s, 4);
  s += __shfl_xor_sync(~0u, s, 2); s += __shfl_xor_sync(~0u, s, 1);
  if (threadIdx.x == 0) y[blockIdx.x] = s / n;
}
torch::Tensor mean_dim(torch::Tensor x, int dim) {
  std::vector<int64_t> order(x.dim());
  std::iota(order.begin(), order.end(), 0);
  order.erase(order.begin() + dim);
  std::vector<int64_t> shape;
  for (auto d : order) shape.push_back(x.size(d));
  order.push_back(dim);
  auto last = x.permute(order).contiguous();
  auto y = torch::empty(shape, torch::dtype(torch::kFloat32).device(x.device()));
  row_mean<<<y.numel(), 32>>>(last.data_ptr<float>(), y.data_ptr<float>(), x.size(dim));
  return y;
}
"""
lib = load_inline(name="mean_permuted", cpp_sources="torch::Tensor mean_dim(torch::Tensor x, int dim);", cuda_sources=src, functions=["mean_dim"])


class ModelNew(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, x):
        return lib.mean_dim(x, self.dim)
