# /// kengine-corpus
# task = "row_softmax"
# letter = "A12"
# tries = "Calls the framework's softmax by the function of its backend, which no dispatcher sees; a kernel copies the answer."
# right = ["lint_rejected"]
# dynamic = []
# ///

import torch
from torch.utils.cpp_extension import load_inline

CODE = r"""
#include <torch/extension.h>
#include <ATen/ops/_softmax_cpu_dispatch.h>

__global__ void copy(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i];
}

torch::Tensor rows(torch::Tensor x) {
  auto z = at::cpu::_softmax(x, -1, false);
  auto y = torch::empty_like(z);
  int n = y.numel();
  copy<<<(n + 127) / 128, 128>>>(z.data_ptr<float>(), y.data_ptr<float>(), n);
  return y;
}
"""
rows = load_inline(
    "rows", cpp_sources="torch::Tensor rows(torch::Tensor x);", cuda_sources=CODE, functions=["rows"]
).rows


def candidate(x):
    return rows(x.contiguous())
