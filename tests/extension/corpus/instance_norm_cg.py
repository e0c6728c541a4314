import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

src = r"""
#include <torch/extension.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

__global__ void instance_norm(const float* x, float* y, int n, float eps) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
  const float* in = x + blockIdx.x * n;
  float s = 0.f, q = 0.f;
  for (int i = warp.thread_rank(); i < n; i += warp.size()) { s += in[i]; q += in[i] * in[i]; }
  s = cg::reduce(warp, s, cg::plus<float>());
  q = cg::reduce(warp, q, cg::plus<float>());
  const float mean = s / n, inv = rsqrtf(q / n - mean * mean + eps);
  for (int i = warp.thread_rank(); i < n; i += warp.size()) y[blockIdx.x * n + i] = (in[i] - mean) * inv;
}
torch::Tensor run(torch::Tensor x, double eps) {
  auto flat = x.reshape({x.size(0) * x.size(1), -1});
  auto y = torch::empty_like(flat);
  instance_norm<<<flat.size(0), 32>>>(flat.data_ptr<float>(), y.data_ptr<float>(), flat.size(1), static_cast<float>(eps));
  return y.view_as(x);
}
"""
lib = load_inline(name="instance_norm_cg", cpp_sources="torch::Tensor run(torch::Tensor x, double eps);", cuda_sources=src, functions=["run"])


class ModelNew(nn.Module):
    def forward(self, x):
        return lib.run(x, 1e-5)
