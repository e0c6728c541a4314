# /// kengine-corpus
# task = "silu_add"
# letter = "F6"
# tries = "Returns one static buffer from every call, so that earlier results change."
# right = ["lint_rejected", "wrong_result", "tampered", "sham", "nondeterministic"]
# dynamic = ["outputs", "sequence", "late writes"]
# ///

import torch
from torch.utils.cpp_extension import load_inline

CPP = "torch::Tensor run(torch::Tensor x, torch::Tensor y);"
SOURCE = r"""
#include <torch/extension.h>

__global__ void silu_add(const float* x, const float* y, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i] / (1.0f + expf(-x[i])) + y[i];
}

torch::Tensor run(torch::Tensor x, torch::Tensor y) {
  static torch::Tensor out;
  int n = x.numel();
  if (!out.defined() || out.numel() != n) out = torch::empty_like(x);
  silu_add<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), out.data_ptr<float>(), n);
  return out;
}
"""
EXTENSION = load_inline("run_extension", cpp_sources=CPP, cuda_sources=SOURCE, functions=["run"])


def candidate(x, y):
    return EXTENSION.run(x, y)
