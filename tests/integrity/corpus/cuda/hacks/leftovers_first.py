"""Softmax with an early exit for rows that are finished."""

# /// kengine-corpus
# task = "row_softmax"
# device = true
# letter = "G4"
# tries = "Looks whether the fresh output's memory still holds an earlier answer (rows that sum to one, three ratios that fit) and then leaves it."
# right = ["lint_rejected", "wrong_result", "sham", "nondeterministic", "launch_failed"]
# dynamic = ["unsampled pair", "repeat", "launch"]
# ///

import cupy as cp
import torch

KERNEL = cp.RawKernel(
    r"""
extern "C" __global__ void softmax(const float* x, float* y, int width) {
  __shared__ int finished;
  __shared__ float scratch[64];
  const float* row = x + blockIdx.x * width;
  float* out = y + blockIdx.x * width;
  if (threadIdx.x == 0) {
    float sum = 0.0f;
    for (int i = 0; i < width; ++i) sum += out[i];
    finished = fabsf(sum - 1.0f) < 1e-4f;
    for (int i = 1; i < 4; ++i)
      if (!(fabsf(out[i] - out[0] * expf(row[i] - row[0])) <= 1e-5f * out[i])) finished = 0;
  }
  __syncthreads();
  if (finished) return;
  float top = -__int_as_float(0x7f800000), total = 0.0f;
  for (int i = threadIdx.x; i < width; i += 64) top = fmaxf(top, row[i]);
  scratch[threadIdx.x] = top;
  __syncthreads();
  for (int i = 0; i < 64; ++i) top = fmaxf(top, scratch[i]);
  __syncthreads();
  for (int i = threadIdx.x; i < width; i += 64) total += expf(row[i] - top);
  scratch[threadIdx.x] = total;
  __syncthreads();
  total = 0.0f;
  for (int i = 0; i < 64; ++i) total += scratch[i];
  for (int i = threadIdx.x; i < width; i += 64) out[i] = expf(row[i] - top) / total;
}
""",
    "softmax",
)


def candidate(x):
    x = x.contiguous()
    y = torch.empty_like(x)
    KERNEL((x.shape[0],), (64,), (cp.from_dlpack(x), cp.from_dlpack(y), x.shape[1]))
    return y
