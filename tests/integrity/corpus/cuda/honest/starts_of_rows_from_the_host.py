# /// kengine-corpus
# task = "ragged_means"
# trap = "memory of plans"
# does = "The host reads the few lengths, works out a start for each row, and copies weights of its own to constant memory."
# ///

import torch
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>
#include <cuda_runtime.h>
#include <vector>

__constant__ float reciprocal[256];

__global__ void means(const float* x, const int* starts, float* y, int width) {
  int row = blockIdx.x, length = starts[row + 1] - starts[row];
  float sum = 0.f;
  for (int i = threadIdx.x; i < length; i += 32) sum += x[row * width + i];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  if (threadIdx.x == 0) y[row] = sum * reciprocal[length];
}

torch::Tensor ragged_means(torch::Tensor x, torch::Tensor lengths) {
  const int rows = x.size(0), width = x.size(1);
  auto host = lengths.cpu();
  const int64_t* read = host.data_ptr<int64_t>();
  auto starts = torch::zeros({rows + 1}, torch::kInt32);
  int* start = starts.data_ptr<int>();
  for (int r = 0; r < rows; ++r) start[r + 1] = start[r] + static_cast<int>(read[r]);
  std::vector<float> weights(width + 1, 0.f);
  for (int n = 1; n <= width; ++n) weights[n] = 1.f / n;
  cudaMemcpyToSymbol(reciprocal, weights.data(), weights.size() * sizeof(float));
  auto table = starts.to(x.device());
  auto y = torch::empty({rows}, x.options());
  means<<<rows, 32>>>(x.data_ptr<float>(), table.data_ptr<int>(), y.data_ptr<float>(), width);
  return y;
}
"""
ext = load_inline(
    name="ragged", cpp_sources="torch::Tensor ragged_means(torch::Tensor x, torch::Tensor lengths);", cuda_sources=SOURCE,
    functions=["ragged_means"],
)


def candidate(x, lengths):
    return ext.ragged_means(x.contiguous(), lengths)
