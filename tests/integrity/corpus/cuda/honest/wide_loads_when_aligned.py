# /// kengine-corpus
# task = "silu_add"
# trap = "pointers"
# does = "Reads four elements at once when the addresses allow it, and one by one else."
# ///

import cupy as cp
import torch

SOURCE = r"""
__device__ float silu(float v) { return v / (1.0f + expf(-v)); }

extern "C" __global__ void wide(const float4* x, const float4* y, float4* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 a = x[i], b = y[i];
  out[i] = make_float4(silu(a.x) + b.x, silu(a.y) + b.y, silu(a.z) + b.z, silu(a.w) + b.w);
}

extern "C" __global__ void narrow(const float* x, const float* y, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = silu(x[i]) + y[i];
}
"""
WIDE = cp.RawKernel(SOURCE, "wide")
NARROW = cp.RawKernel(SOURCE, "narrow")


def candidate(x, y):
    out = torch.empty_like(x)
    n = x.numel()
    tensors = (x, y, out)
    if n % 4 == 0 and all(t.data_ptr() % 16 == 0 for t in tensors):
        kernel, count = WIDE, n // 4
    else:
        kernel, count = NARROW, n
    kernel(((count + 127) // 128,), (128,), (*map(cp.from_dlpack, tensors), count))
    return out
