import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

src = r"""
#include <torch/extension.h>
__global__ void norm_add_mul(const float* x, const float* y, float* out, int n, float eps) {
  extern __shared__ float2 red[];
  float s = 0, q = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) { float v = x[blockIdx.x * n + i]; s += v; q += v * v; }
  red[threadIdx.x] = make_float2(s, q);
  __syncthreads();
  for (int k = blockDim.x / 2; k; k >>= 1) {
    if (threadIdx.x < k) { red[threadIdx.x].x += red[threadIdx.x + k].x; red[threadIdx.x].y += red[threadIdx.x + k].y; }
    __syncthreads();
  }
  const float mean = red[0].x / n, inv = rsqrtf(red[0].y / n - mean * mean + eps);
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    const int at = blockIdx.x * n + i;
    out[at] = ((x[at] - mean) * inv + y[at]) * y[at];
  }
}
torch::Tensor forward(torch::Tensor x, torch::Tensor y, torch::Tensor w, torch::Tensor b, double eps) {
  torch::NoGradGuard no_grad;
  auto z = torch::matmul(x, w.transpose(0, 1)) + b;
  auto out = torch::empty_like(z);
  norm_add_mul<<<z.size(0), 64, 64 * sizeof(float2)>>>(z.data_ptr<float>(), y.data_ptr<float>(), out.data_ptr<float>(), z.size(1), static_cast<float>(eps));
  return out;
}
"""
ext = load_inline(name="binr", cpp_sources="torch::Tensor forward(torch::Tensor x, torch::Tensor y, torch::Tensor w, torch::Tensor b, double eps);", cuda_sources=src, functions=["forward"])


class ModelNew(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.bmm = nn.Linear(i, o)

    def forward(self, x, y):
        return ext.forward(x, y, self.bmm.weight.data, self.bmm.bias.data, 1e-5)
