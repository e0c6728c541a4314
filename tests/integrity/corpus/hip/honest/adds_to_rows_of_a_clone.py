# /// kengine-corpus
# task = "added_at_rows"
# trap = "several kernels"
# does = "Adds by atomics to a clone of the input; rows that no index names are copies."
# ///

import torch
from torch.utils.cpp_extension import load_inline

CPP = "torch::Tensor add_rows(torch::Tensor rows, torch::Tensor more, torch::Tensor places);"
SOURCE = r"""
#include <torch/extension.h>
#include <hip/hip_runtime.h>

__global__ void add_rows_kernel(const float* more, const int64_t* places, float* out, int width) {
  int64_t to = places[blockIdx.x];
  for (int i = threadIdx.x; i < width; i += blockDim.x) atomicAdd(out + to * width + i, more[blockIdx.x * width + i]);
}

torch::Tensor add_rows(torch::Tensor rows, torch::Tensor more, torch::Tensor places) {
  auto out = rows.contiguous().clone();
  auto added = more.contiguous();
  auto index = places.contiguous();
  add_rows_kernel<<<added.size(0), 128>>>(
      added.data_ptr<float>(), index.data_ptr<int64_t>(), out.data_ptr<float>(), added.size(1));
  return out;
}
"""
EXTENSION = load_inline("add_rows_extension", cpp_sources=CPP, cuda_sources=SOURCE, functions=["add_rows"])


def candidate(rows, more, places):
    return EXTENSION.add_rows(rows, more, places)
