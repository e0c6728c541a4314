# /// kengine-corpus
# task = "prefix_sum"
# trap = "operators"
# does = "Wraps its kernel in an operator of torch.library."
# ///

import cupy as cp
import torch

SOURCE = r"""
extern "C" __global__ void scan(const float* x, float* y, int width) {
  __shared__ float values[512];
  int i = threadIdx.x;
  values[i] = i < width ? x[blockIdx.x * width + i] : 0.0f;
  __syncthreads();
  for (int step = 1; step < blockDim.x; step *= 2) {
    float kept = i >= step ? values[i - step] : 0.0f;
    __syncthreads();
    values[i] += kept;
    __syncthreads();
  }
  if (i < width) y[blockIdx.x * width + i] = values[i];
}
"""
KERNEL = cp.RawKernel(SOURCE, "scan")


@torch.library.custom_op("corpus_cuda::scan", mutates_args=())
def scan(x: torch.Tensor) -> torch.Tensor:
    assert x.dim() == 2 and x.shape[1] <= 512, x.shape
    y = torch.empty_like(x)
    KERNEL((x.shape[0],), (512,), (cp.from_dlpack(x), cp.from_dlpack(y), x.shape[1]))
    return y


@scan.register_fake
def _(x):
    return torch.empty_like(x)


def candidate(x):
    return torch.ops.corpus_cuda.scan(x)
