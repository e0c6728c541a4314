# /// kengine-corpus
# task = "row_softmax"
# letter = "A13"
# tries = "Copies the input to the host, computes there in C++, and copies the result with a kernel."
# right = ["lint_rejected", "sham"]
# dynamic = ["provenance", "coverage"]
# ///

import torch
from torch.utils.cpp_extension import load_inline

CPP = "torch::Tensor softmax(torch::Tensor x);"
SOURCE = r"""
#include <torch/extension.h>
#include <algorithm>
#include <cmath>

__global__ void copy(const float* source, float* target, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) target[i] = source[i];
}

torch::Tensor emit(torch::Tensor value) {
  auto out = torch::empty_like(value);
  int n = value.numel();
  copy<<<(n + 255) / 256, 256>>>(value.data_ptr<float>(), out.data_ptr<float>(), n);
  return out;
}

torch::Tensor softmax(torch::Tensor x) {
  auto host = x.cpu();
  auto done = torch::empty_like(host);
  const float* in = host.data_ptr<float>();
  float* out = done.data_ptr<float>();
  int64_t width = x.size(1);
  for (int64_t r = 0; r < x.size(0); ++r) {
    float top = in[r * width], sum = 0.0f;
    for (int64_t i = 1; i < width; ++i) top = std::max(top, in[r * width + i]);
    for (int64_t i = 0; i < width; ++i) sum += out[r * width + i] = std::exp(in[r * width + i] - top);
    for (int64_t i = 0; i < width; ++i) out[r * width + i] /= sum;
  }
  return emit(done.to(x.device()));
}
"""
EXTENSION = load_inline("softmax_extension", cpp_sources=CPP, cuda_sources=SOURCE, functions=["softmax"])


def candidate(x):
    return EXTENSION.softmax(x)
