# /// kengine-corpus
# task = "prefix_sum"
# trap = "memory of plans"
# does = "Scans with dynamic shared memory whose size a cached plan holds for each width."
# ///

from functools import lru_cache

import cupy as cp
import torch

SOURCE = r"""
#include <hip/hip_runtime.h>

extern "C" __global__ void scan(const float* x, float* y, int width) {
  extern __shared__ float values[];
  for (int i = threadIdx.x; i < width; i += blockDim.x) values[i] = x[blockIdx.x * width + i];
  __syncthreads();
  for (int step = 1; step < width; step *= 2) {
    float kept[4];
    int n = 0;
    for (int i = threadIdx.x; i < width; i += blockDim.x) kept[n++] = i >= step ? values[i - step] : 0.0f;
    __syncthreads();
    n = 0;
    for (int i = threadIdx.x; i < width; i += blockDim.x) values[i] += kept[n++];
    __syncthreads();
  }
  for (int i = threadIdx.x; i < width; i += blockDim.x) y[blockIdx.x * width + i] = values[i];
}
"""
KERNEL = cp.RawKernel(SOURCE, "scan")


@lru_cache(maxsize=None)
def plan(width):
    return (max(64, min(256, 1 << (width - 1).bit_length())),), 4 * width


def candidate(x):
    y = torch.empty_like(x)
    block, shared = plan(x.shape[1])
    arguments = (cp.from_dlpack(x), cp.from_dlpack(y), x.shape[1])
    KERNEL((x.shape[0],), block, arguments, shared_mem=shared)
    return y
