import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

src = r"""
#include <torch/extension.h>
#include <torch/library.h>
__global__ void lookup(const float* w, const int* ids, float* y, int d, int total) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < total) y[i] = w[ids[i / d] * d + i % d];
}
at::Tensor lookup_cuda(const at::Tensor& w, const at::Tensor& ids) {
  auto i = ids.to(at::kInt).contiguous();
  auto y = at::empty({i.numel(), w.size(1)}, w.options());
  lookup<<<(y.numel() + 127) / 128, 128>>>(w.data_ptr<float>(), i.data_ptr<int>(), y.data_ptr<float>(), w.size(1), y.numel());
  auto shape = ids.sizes().vec();
  shape.emplace_back(w.size(1));
  return y.view(shape);
}
TORCH_LIBRARY(corpus_embedding, m) { m.def("lookup(Tensor w, Tensor ids) -> Tensor"); }
TORCH_LIBRARY_IMPL(corpus_embedding, CUDA, m) { m.impl("lookup", &lookup_cuda); }
"""
load_inline(name="corpus_embedding", cpp_sources="", cuda_sources=src, is_python_module=False)


class ModelNew(nn.Module):
    def __init__(self, n, d):
        super().__init__()
        self.table = nn.Embedding(n, d)

    def forward(self, ids):
        return torch.ops.corpus_embedding.lookup(self.table.weight, ids)
