# /// kengine-corpus
# task = "histogram"
# trap = "allocation"
# does = "Counts with atomics into zeros that the framework allocated."
# ///

import cupy as cp
import torch

SOURCE = r"""
extern "C" __global__ void count(const long long* x, unsigned long long* counts, int n) {
  __shared__ unsigned int mine[16];
  if (threadIdx.x < 16) mine[threadIdx.x] = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(mine + x[i], 1u);
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(counts + threadIdx.x, (unsigned long long)mine[threadIdx.x]);
}
"""
KERNEL = cp.RawKernel(SOURCE, "count")


def candidate(x):
    counts = torch.zeros(16, dtype=torch.int64, device=x.device)
    n = x.numel()
    KERNEL(((n + 255) // 256,), (256,), (cp.from_dlpack(x), cp.from_dlpack(counts), n))
    return counts
