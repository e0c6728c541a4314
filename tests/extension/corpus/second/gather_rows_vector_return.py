import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

src = r"""
#include <torch/extension.h>
__global__ void gather_kernel(const float* x, const int* idx, float* y, int cols, int k) {
  int r = blockIdx.x, c = threadIdx.x;
  if (c < k) y[r * k + c] = x[r * cols + idx[r * k + c]];
}
std::vector<at::Tensor> gather(const at::Tensor& x, std::vector<at::Tensor> indices) {
  std::vector<at::Tensor> results;
  results.reserve(indices.size());
  for (const auto& index : indices) {
    auto i32 = index.to(at::kInt).contiguous();
    auto y = at::empty(index.sizes(), x.options());
    gather_kernel<<<x.size(0), 32>>>(x.data_ptr<float>(), i32.data_ptr<int>(), y.data_ptr<float>(), x.size(1), i32.size(1));
    results.push_back(y);
  }
  return results;
}
"""
ext = load_inline(name="gather_many", cpp_sources="std::vector<at::Tensor> gather(const at::Tensor& x, std::vector<at::Tensor> indices);", cuda_sources=src, functions=["gather"])


class ModelNew(nn.Module):
    def forward(self, x, a, b):
        return torch.cat(ext.gather(x, [a, b]), dim=1)
