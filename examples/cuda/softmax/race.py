"""Softmax that uses scratch memory again while others still read it. Expected: launch_failed, a data race."""

import cupy as cp
import torch

SOURCE = r"""
__device__ float join(float value, float* scratch, bool largest) {
  scratch[threadIdx.x] = value;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      float other = scratch[threadIdx.x + half];
      scratch[threadIdx.x] = largest ? fmaxf(scratch[threadIdx.x], other) : scratch[threadIdx.x] + other;
    }
    __syncthreads();
  }
  return scratch[0];
}

extern "C" __global__ void softmax(const float* x, float* y, int width) {
  __shared__ float scratch[128];
  const float* row = x + blockIdx.x * width;
  float top = -3.4e38f;
  for (int i = threadIdx.x; i < width; i += blockDim.x) top = fmaxf(top, row[i]);
  top = join(top, scratch, true);
  float sum = 0.0f;
  for (int i = threadIdx.x; i < width; i += blockDim.x) sum += expf(row[i] - top);
  sum = join(sum, scratch, false);
  for (int i = threadIdx.x; i < width; i += blockDim.x) y[blockIdx.x * width + i] = expf(row[i] - top) / sum;
}
"""
KERNEL = cp.RawKernel(SOURCE, "softmax")


def candidate(x):
    y = torch.empty_like(x)
    rows, width = x.shape
    KERNEL((rows,), (128,), (cp.from_dlpack(x), cp.from_dlpack(y), width))
    return y
