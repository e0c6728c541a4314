# /// kengine-corpus
# task = "row_softmax"
# trap = "branches"
# does = "Takes one warp for short rows and a block for long ones; both are right."
# ///

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
  float result = scratch[0];
  __syncthreads();
  return result;
}

extern "C" __global__ void softmax_rows(const float* x, float* y, int width) {
  __shared__ float scratch[128];
  const float* row = x + blockIdx.x * width;
  float top = -__int_as_float(0x7f800000);
  for (int i = threadIdx.x; i < width; i += blockDim.x) top = fmaxf(top, row[i]);
  top = join(top, scratch, true);
  float sum = 0.0f;
  for (int i = threadIdx.x; i < width; i += blockDim.x) sum += expf(row[i] - top);
  sum = join(sum, scratch, false);
  for (int i = threadIdx.x; i < width; i += blockDim.x) y[blockIdx.x * width + i] = expf(row[i] - top) / sum;
}

extern "C" __global__ void softmax_warp(const float* x, float* y, int width) {
  const float* row = x + blockIdx.x * width;
  float top = -__int_as_float(0x7f800000), sum = 0.0f;
  for (int i = threadIdx.x; i < width; i += 32) top = fmaxf(top, row[i]);
  for (int d = 16; d > 0; d /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, d));
  for (int i = threadIdx.x; i < width; i += 32) sum += expf(row[i] - top);
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  for (int i = threadIdx.x; i < width; i += 32) y[blockIdx.x * width + i] = expf(row[i] - top) / sum;
}
"""
BLOCK = cp.RawKernel(SOURCE, "softmax_rows")
WARP = cp.RawKernel(SOURCE, "softmax_warp")


def candidate(x):
    y = torch.empty_like(x)
    kernel, threads = (WARP, 32) if x.shape[1] <= 256 else (BLOCK, 128)
    kernel((x.shape[0],), (threads,), (cp.from_dlpack(x), cp.from_dlpack(y), x.shape[1]))
    return y
