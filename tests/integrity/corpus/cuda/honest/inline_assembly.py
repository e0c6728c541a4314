# /// kengine-corpus
# task = "silu_add"
# trap = "inline"
# does = "Multiplies and adds with inline assembly, and reads through the read-only path."
# targets = ["cuda:sm_*"]
# ///

import cupy as cp
import torch

SOURCE = r"""
__device__ __forceinline__ float fused(float a, float b, float c) {
  float d;
  asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(d) : "f"(a), "f"(b), "f"(c));
  return d;
}

extern "C" __global__ void silu_add(const float* __restrict__ x, const float* __restrict__ y, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = fused(__ldg(x + i), 1.0f / (1.0f + expf(-x[i])), __ldg(y + i));
}
"""
KERNEL = cp.RawKernel(SOURCE, "silu_add")


def candidate(x, y):
    out = torch.empty_like(x)
    n = x.numel()
    KERNEL(((n + 127) // 128,), (128,), (cp.from_dlpack(x), cp.from_dlpack(y), cp.from_dlpack(out), n))
    return out
