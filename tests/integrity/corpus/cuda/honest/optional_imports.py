# /// kengine-corpus
# task = "rms_norm"
# trap = "imports"
# does = "Imports what it can, reads a tuning knob of the environment, and checks its arguments."
# ///

import os

import cupy as cp
import torch

SOURCE = r"""
extern "C" __global__ void rms_norm(const float* x, const float* gain, float* y, int width, float eps) {
  __shared__ float scratch[256];
  const float* row = x + blockIdx.x * width;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < width; i += blockDim.x) sum += row[i] * row[i];
  scratch[threadIdx.x] = sum;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) scratch[threadIdx.x] += scratch[threadIdx.x + half];
    __syncthreads();
  }
  float scale = rsqrtf(scratch[0] / width + eps);
  for (int i = threadIdx.x; i < width; i += blockDim.x) y[blockIdx.x * width + i] = row[i] * scale * gain[i];
}
"""
KERNEL = cp.RawKernel(SOURCE, "rms_norm")


try:
    import nvtx  # noqa: F401
except ImportError:
    pass

THREADS = int(os.environ.get("RMS_NORM_THREADS", "128"))


def candidate(x, gain):
    if x.dim() != 2 or gain.shape != x.shape[1:]:
        raise ValueError(f"want a matrix and a gain, got {tuple(x.shape)} and {tuple(gain.shape)}")
    assert THREADS in (64, 128, 256)
    y = torch.empty_like(x)
    arguments = (cp.from_dlpack(x), cp.from_dlpack(gain), cp.from_dlpack(y), x.shape[1], cp.float32(1e-6))
    KERNEL((x.shape[0],), (THREADS,), arguments)
    return y
