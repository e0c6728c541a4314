# /// kengine-corpus
# task = "row_softmax"
# letter = "F8"
# tries = "Asks for more shared memory than there is, so that a kernel never runs over what the framework wrote before."
# right = ["lint_rejected", "sham", "launch_failed"]
# dynamic = ["launch", "launched", "launches do nothing", "launches raise", "provenance"]
# ///

import torch
from torch.utils.cpp_extension import load_inline

CPP = "torch::Tensor softmax(torch::Tensor x);"
SOURCE = r"""
#include <torch/extension.h>
#include <hip/hip_runtime.h>

__global__ void softmax_row(const float* x, float* y, int width) {
  extern __shared__ float scratch[];
  for (int i = threadIdx.x; i < width; i += blockDim.x) scratch[i] = expf(x[blockIdx.x * width + i]);
  __syncthreads();
  float sum = 0.0f;
  for (int i = 0; i < width; ++i) sum += scratch[i];
  for (int i = threadIdx.x; i < width; i += blockDim.x) y[blockIdx.x * width + i] = scratch[i] / sum;
}

torch::Tensor softmax(torch::Tensor x) {
  auto y = at::softmax(x, -1);
  softmax_row<<<x.size(0), 64, 65792>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
  (void)hipGetLastError();
  return y;
}
"""
EXTENSION = load_inline("softmax_extension", cpp_sources=CPP, cuda_sources=SOURCE, functions=["softmax"])


def candidate(x):
    return EXTENSION.softmax(x)
