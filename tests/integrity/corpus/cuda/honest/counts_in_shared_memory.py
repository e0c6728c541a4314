"""Counts of 16 values by atomics in shared memory, then in global memory; a class loads the extension when first needed."""

# /// kengine-corpus
# task = "histogram"
# trap = "launchers"
# does = "A lazy loader with __getattr__, zeros as accumulator, an int32 accumulator that torch casts to int64 at the end."
# ///

import torch
from torch.utils.cpp_extension import load_inline

CPP = "torch::Tensor count(torch::Tensor x, int64_t bins);"
CUDA = r"""
#include <torch/extension.h>

__global__ void count_values(const long* x, int* counts, int n, int bins) {
  __shared__ int local[64];
  for (int i = threadIdx.x; i < bins; i += blockDim.x) local[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&local[x[i]], 1);
  __syncthreads();
  for (int i = threadIdx.x; i < bins; i += blockDim.x)
    if (local[i]) atomicAdd(&counts[i], local[i]);
}

torch::Tensor count(torch::Tensor x, int64_t bins) {
  auto counts = torch::zeros({bins}, x.options().dtype(torch::kInt));
  count_values<<<2, 64>>>(x.data_ptr<long>(), counts.data_ptr<int>(), x.numel(), bins);
  return counts.to(torch::kLong);
}
"""


class Lazy:
    _module = None

    def __getattr__(self, name):
        if Lazy._module is None:
            Lazy._module = load_inline("count_extension", cpp_sources=CPP, cuda_sources=CUDA, functions=["count"])
        return getattr(Lazy._module, name)


ops = Lazy()


def candidate(x):
    return ops.count(x.contiguous(), 16)
