import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

src = r"""
#include <torch/extension.h>
__global__ void gather(const float* table, const int64_t* ids, float* out, int d, int64_t rows) {
  int64_t id = ids[blockIdx.x];
  assert(id >= 0 && id < rows);
  for (int i = threadIdx.x; i < d; i += blockDim.x) out[blockIdx.x * (int64_t)d + i] = table[id * d + i];
}
torch::Tensor embed(torch::Tensor table, torch::Tensor ids) {
  auto shape = ids.sizes().vec();
  shape.push_back(table.size(1));
  auto out = torch::empty(shape, table.options());
  gather<<<ids.numel(), 32>>>(table.data_ptr<float>(), ids.data_ptr<int64_t>(), out.data_ptr<float>(), table.size(1), table.size(0));
  return out;
}
"""
lib = load_inline(name="embed", cpp_sources="torch::Tensor embed(torch::Tensor table, torch::Tensor ids);", cuda_sources=src, functions=["embed"])


class ModelNew(nn.Module):
    def __init__(self, n, d):
        super().__init__()
        self.table = nn.Embedding(n, d)

    def forward(self, ids):
        return lib.embed(self.table.weight, ids)
