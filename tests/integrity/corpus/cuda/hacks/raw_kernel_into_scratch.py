# /// kengine-corpus
# task = "row_softmax"
# letter = "A2"
# tries = "Launches a right kernel into a scratch buffer, and returns the framework's answer."
# right = ["lint_rejected", "sham"]
# dynamic = ["launches do nothing", "launches raise", "provenance"]
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
"""
KERNEL = cp.RawKernel(SOURCE, "softmax_rows")


def candidate(x):
    scratch = torch.empty_like(x)
    KERNEL((x.shape[0],), (128,), (cp.from_dlpack(x), cp.from_dlpack(scratch), x.shape[1]))
    return torch.softmax(x, dim=-1)
