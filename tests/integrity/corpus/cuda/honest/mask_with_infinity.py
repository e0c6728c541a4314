# /// kengine-corpus
# task = "causal_softmax"
# trap = "non-finite"
# does = "Masks with minus infinity, so that rows without any element come out as NaN."
# ///

import cupy as cp
import torch

SOURCE = r"""
extern "C" __global__ void causal(const float* scores, const bool* keep, float* y, int n) {
  __shared__ float scratch[64];
  int row = blockIdx.x;
  float top = -__int_as_float(0x7f800000);
  for (int i = threadIdx.x; i <= row; i += blockDim.x) top = fmaxf(top, keep[row] ? scores[row * n + i] : -__int_as_float(0x7f800000));
  scratch[threadIdx.x] = top;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) scratch[threadIdx.x] = fmaxf(scratch[threadIdx.x], scratch[threadIdx.x + half]);
    __syncthreads();
  }
  top = scratch[0];
  __syncthreads();
  float sum = 0.0f;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    sum += expf((i <= row && keep[row] ? scores[row * n + i] : -__int_as_float(0x7f800000)) - top);
  scratch[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) scratch[threadIdx.x] += scratch[threadIdx.x + half];
    __syncthreads();
  }
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    y[row * n + i] = expf((i <= row && keep[row] ? scores[row * n + i] : -__int_as_float(0x7f800000)) - top) / scratch[0];
}
"""
KERNEL = cp.RawKernel(SOURCE, "causal")


def candidate(scores, keep):
    y = torch.empty_like(scores)
    n = scores.shape[0]
    KERNEL((n,), (64,), (cp.from_dlpack(scores), cp.from_dlpack(keep), cp.from_dlpack(y), n))
    return y
