# /// kengine-corpus
# task = "causal_softmax"
# trap = "non-finite"
# does = "Masks with minus infinity, and gives NaN for rows without any element, as the reference does."
# ///

import torch
from torch.utils.cpp_extension import load_inline

CPP = "torch::Tensor run(torch::Tensor scores, torch::Tensor keep);"
SOURCE = r"""
#include <torch/extension.h>
#include <hip/hip_runtime.h>
#include <ATen/cuda/CUDAContext.h>

__global__ void causal(const float* scores, const bool* keep, float* y, int n) {
  int row = blockIdx.x, lane = threadIdx.x;
  float top = -INFINITY, sum = 0.0f;
  for (int i = lane; i <= row; i += warpSize)
    if (keep[row]) top = fmaxf(top, scores[row * n + i]);
  for (int d = warpSize / 2; d > 0; d /= 2) top = fmaxf(top, __shfl_xor(top, d));
  for (int i = lane; i <= row; i += warpSize) sum += keep[row] ? expf(scores[row * n + i] - top) : 0.0f;
  for (int d = warpSize / 2; d > 0; d /= 2) sum += __shfl_xor(sum, d);
  for (int i = lane; i < n; i += warpSize)
    y[row * n + i] = i <= row && keep[row] ? expf(scores[row * n + i] - top) / sum : 0.0f / sum;
}

torch::Tensor run(torch::Tensor scores, torch::Tensor keep) {
  auto y = torch::empty_like(scores);
  int wave = at::cuda::warp_size();
  causal<<<scores.size(0), wave>>>(scores.data_ptr<float>(), keep.data_ptr<bool>(), y.data_ptr<float>(), scores.size(0));
  return y;
}
"""
EXTENSION = load_inline("run_extension", cpp_sources=CPP, cuda_sources=SOURCE, functions=["run"])


def candidate(scores, keep):
    return EXTENSION.run(scores, keep)
