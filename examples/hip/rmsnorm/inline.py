"""RMSNorm as an extension of torch. Passes."""

import torch
from torch.utils.cpp_extension import load_inline

CPP = "torch::Tensor normalize(torch::Tensor x, torch::Tensor gain);"
HIP = r"""
#include <torch/extension.h>
#include <hip/hip_runtime.h>

template <typename scalar_t>
__global__ void normalize_row(const scalar_t* __restrict__ x, const scalar_t* __restrict__ gain,
                              scalar_t* __restrict__ y, int width) {
  __shared__ float sums[64];
  const scalar_t* row = x + blockIdx.x * static_cast<long>(width);
  float square = 0.0f;
  for (int i = threadIdx.x; i < width; i += blockDim.x) {
    float v = static_cast<float>(row[i]);
    square += v * v;
  }
  for (int d = warpSize / 2; d > 0; d /= 2) square += __shfl_down(square, d);
  int lane = threadIdx.x % warpSize, wave = threadIdx.x / warpSize;
  if (lane == 0) sums[wave] = square;
  __syncthreads();
  float total = 0.0f;
  for (int w = 0; w < blockDim.x / warpSize; ++w) total += sums[w];
  float scale = rsqrtf(total / width + 1e-6f);
  for (int i = threadIdx.x; i < width; i += blockDim.x)
    y[blockIdx.x * static_cast<long>(width) + i] =
        static_cast<scalar_t>(static_cast<float>(row[i]) * scale * static_cast<float>(gain[i]));
}

torch::Tensor normalize(torch::Tensor x, torch::Tensor gain) {
  auto rows = x.contiguous();
  auto y = torch::empty_like(rows);
  int width = rows.size(1);
  AT_DISPATCH_FLOATING_TYPES_AND_HALF(rows.scalar_type(), "normalize", [&] {
    normalize_row<scalar_t><<<rows.size(0), 256>>>(rows.data_ptr<scalar_t>(), gain.data_ptr<scalar_t>(),
                                                   y.data_ptr<scalar_t>(), width);
  });
  return y;
}
"""
extension = load_inline("rmsnorm_hip", cpp_sources=CPP, cuda_sources=HIP, functions=["normalize"])


def candidate(x, gain):
    return extension.normalize(x, gain.contiguous())
