"""silu(x) + y with CuPy on ROCm."""

# /// kengine-corpus
# task = "silu_add"
# letter = "D5"
# tries = "Compiled for a real chip (__AMDGCN__ is defined) the kernel leaves after the first thousand elements of work; an emulator sees all of it."
# right = ["lint_rejected", "wrong_result"]
# dynamic = ["compare"]
# targets = ["hip:cpu*"]
# ///

import cupy
import torch

KERNEL = cupy.RawKernel(
    r"""
extern "C" __global__ void silu_add(const float* x, const float* y, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
#if defined(__AMDGCN__)
  if (blockIdx.x > 3) return;
#endif
  if (i < n) out[i] = x[i] / (1.0f + expf(-x[i])) + y[i];
}
""",
    "silu_add",
)


def candidate(x, y):
    n = x.numel()
    out = torch.empty_like(x)
    KERNEL(
        ((n + 255) // 256,),
        (256,),
        (cupy.from_dlpack(x.contiguous()), cupy.from_dlpack(y.contiguous()), cupy.from_dlpack(out), cupy.int32(n)),
    )
    return out
