"""y += alpha * x in place, on torch's current stream, with vectors of four and a tail."""

# /// kengine-corpus
# task = "axpy_in_place"
# trap = "pointers"
# does = "Asks for the current stream, checks addresses for alignment and takes vectors of four or scalars by it; returns its argument."
# ///

import torch
from torch.utils.cpp_extension import load_inline

CPP = "torch::Tensor axpy_(torch::Tensor x, torch::Tensor y, double alpha);"
CUDA = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <cstdint>

__global__ void axpy_vector(const float4* x, float4* y, float alpha, int fours) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= fours) return;
  float4 a = x[i], b = y[i];
  b.x += alpha * a.x; b.y += alpha * a.y; b.z += alpha * a.z; b.w += alpha * a.w;
  y[i] = b;
}

__global__ void axpy_scalar(const float* x, float* y, float alpha, int first, int n) {
  int i = first + blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += alpha * x[i];
}

torch::Tensor axpy_(torch::Tensor x, torch::Tensor y, double alpha) {
  const float* from = x.data_ptr<float>();
  float* to = y.data_ptr<float>();
  int n = y.numel();
  auto stream = at::cuda::getCurrentCUDAStream();
  bool aligned = (reinterpret_cast<std::uintptr_t>(from) | reinterpret_cast<std::uintptr_t>(to)) % 16 == 0;
  int fours = aligned ? n / 4 : 0;
  if (fours > 0)
    axpy_vector<<<(fours + 127) / 128, 128, 0, stream>>>((const float4*)from, (float4*)to, (float)alpha, fours);
  int rest = n - 4 * fours;
  if (rest > 0) axpy_scalar<<<(rest + 127) / 128, 128, 0, stream>>>(from, to, (float)alpha, 4 * fours, n);
  return y;
}
"""
module = load_inline("axpy_extension", cpp_sources=CPP, cuda_sources=CUDA, functions=["axpy_"])


def candidate(x, y, alpha):
    return module.axpy_(x.contiguous(), y, float(alpha))
