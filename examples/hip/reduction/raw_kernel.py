"""Sum as a kernel of CuPy: shuffles, then local memory. Passes."""

import cupy
import torch

KERNEL = cupy.RawKernel(
    r"""
extern "C" __global__ void add_up(const float* x, float* total, int n) {
  __shared__ float sums[64];
  float sum = 0.0f;
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += x[i];
  for (int d = warpSize / 2; d > 0; d /= 2) sum += __shfl_down(sum, d);
  if (threadIdx.x % warpSize == 0) sums[threadIdx.x / warpSize] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    float all = 0.0f;
    for (int w = 0; w < blockDim.x / warpSize; ++w) all += sums[w];
    *total = all;
  }
}
""",
    "add_up",
)


def candidate(x):
    total = torch.empty(1, dtype=x.dtype, device=x.device)
    KERNEL((1,), (256,), (cupy.from_dlpack(x), cupy.from_dlpack(total), cupy.int32(x.numel())))
    return total
