"""Softmax as an extension; a static table remembers the number of threads for each width."""

# /// kengine-corpus
# task = "row_softmax"
# trap = "memory of plans"
# does = "A static unordered_map in C++ keyed by width, which holds thread counts and no data; AT_DISPATCH and TORCH_CHECK."
# ///

import torch
from torch.utils.cpp_extension import load_inline

CPP = "torch::Tensor softmax_forward(torch::Tensor x);"
CUDA = r"""
#include <torch/extension.h>
#include <cfloat>
#include <unordered_map>

template <typename T>
__global__ void softmax_rows(const T* __restrict__ x, T* __restrict__ y, int width) {
  extern __shared__ float scratch[];
  const T* row = x + blockIdx.x * static_cast<long>(width);
  T* out = y + blockIdx.x * static_cast<long>(width);
  float top = -FLT_MAX;
  for (int i = threadIdx.x; i < width; i += blockDim.x) top = fmaxf(top, static_cast<float>(row[i]));
  scratch[threadIdx.x] = top;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) scratch[threadIdx.x] = fmaxf(scratch[threadIdx.x], scratch[threadIdx.x + half]);
    __syncthreads();
  }
  top = scratch[0];
  __syncthreads();
  float sum = 0.0f;
  for (int i = threadIdx.x; i < width; i += blockDim.x) sum += expf(static_cast<float>(row[i]) - top);
  scratch[threadIdx.x] = sum;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) scratch[threadIdx.x] += scratch[threadIdx.x + half];
    __syncthreads();
  }
  sum = scratch[0];
  for (int i = threadIdx.x; i < width; i += blockDim.x)
    out[i] = static_cast<T>(expf(static_cast<float>(row[i]) - top) / sum);
}

torch::Tensor softmax_forward(torch::Tensor x) {
  TORCH_CHECK(x.dim() == 2, "softmax_forward: a matrix, please");
  static std::unordered_map<int, int> cache;
  int width = x.size(1);
  auto found = cache.find(width);
  if (found == cache.end()) {
    int threads = 32;
    while (threads < width && threads < 256) threads *= 2;
    found = cache.emplace(width, threads).first;
  }
  int threads = found->second;
  auto rows = x.contiguous();
  auto y = torch::empty_like(rows);
  AT_DISPATCH_FLOATING_TYPES(rows.scalar_type(), "softmax_forward", [&] {
    softmax_rows<scalar_t><<<rows.size(0), threads, threads * sizeof(float)>>>(
        rows.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), width);
  });
  return y;
}
"""
module = load_inline("softmax_forward_extension", cpp_sources=CPP, cuda_sources=CUDA, functions=["softmax_forward"])


def candidate(x):
    return module.softmax_forward(x)
