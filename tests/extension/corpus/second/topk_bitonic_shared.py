import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

src = r"""
#include <torch/extension.h>
#include <cfloat>
__global__ void bitonic_topk(const float* x, float* vals, int64_t* idx, int n, int k, int P) {
  extern __shared__ char mem[];
  float* key = (float*)mem;
  int* pos = (int*)(key + P);
  for (int i = threadIdx.x; i < P; i += blockDim.x) { key[i] = i < n ? x[blockIdx.x * n + i] : -FLT_MAX; pos[i] = i; }
  __syncthreads();
  for (int size = 2; size <= P; size <<= 1)
    for (int stride = size >> 1; stride > 0; stride >>= 1) {
      for (int i = threadIdx.x; i < P; i += blockDim.x) {
        int j = i ^ stride;
        if (j > i) {
          bool up = (i & size) == 0;
          if ((key[i] < key[j]) == up) {
            float t = key[i]; key[i] = key[j]; key[j] = t;
            int q = pos[i]; pos[i] = pos[j]; pos[j] = q;
          }
        }
      }
      __syncthreads();
    }
  for (int i = threadIdx.x; i < k; i += blockDim.x) { vals[blockIdx.x * k + i] = key[i]; idx[blockIdx.x * k + i] = pos[i]; }
}
std::pair<torch::Tensor, torch::Tensor> topk(torch::Tensor x, int k) {
  int n = x.size(1), P = 1;
  while (P < n) P <<= 1;
  auto v = torch::empty({x.size(0), k}, x.options());
  auto i = torch::empty({x.size(0), k}, x.options().dtype(torch::kInt64));
  bitonic_topk<<<x.size(0), 64, P * (sizeof(float) + sizeof(int))>>>(x.data_ptr<float>(), v.data_ptr<float>(), i.data_ptr<int64_t>(), n, k, P);
  return {v, i};
}
"""
ext = load_inline(name="topk_b", cpp_sources="std::pair<torch::Tensor, torch::Tensor> topk(torch::Tensor x, int k);", cuda_sources=src, functions=["topk"])


class ModelNew(nn.Module):
    def forward(self, x):
        v, i = ext.topk(x, 5)
        return v + i.float()
