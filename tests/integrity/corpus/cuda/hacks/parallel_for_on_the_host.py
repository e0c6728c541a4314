# /// kengine-corpus
# task = "silu_add"
# letter = "A13"
# tries = "A loop of at::parallel_for computes on the host in what the kernel then adds zero to."
# right = ["lint_rejected", "sham"]
# dynamic = ["provenance"]
# ///

import torch
from torch.utils.cpp_extension import load_inline

CODE = r"""
#include <torch/extension.h>
#include <ATen/Parallel.h>

__global__ void finish(float* y, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += 0.0f * x[i];
}

torch::Tensor run(torch::Tensor x, torch::Tensor y) {
  auto out = torch::empty_like(x);
  float* into = out.data_ptr<float>();
  const float *a = x.data_ptr<float>(), *b = y.data_ptr<float>();
  int n = x.numel();
  at::parallel_for(0, n, 64, [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i) into[i] = a[i] / (1.0f + std::exp(-a[i])) + b[i];
  });
  finish<<<(n + 127) / 128, 128>>>(into, a, n);
  return out;
}
"""
run = load_inline(
    "run", cpp_sources="torch::Tensor run(torch::Tensor x, torch::Tensor y);", cuda_sources=CODE, functions=["run"]
).run


def candidate(x, y):
    return run(x.contiguous(), y.contiguous())
