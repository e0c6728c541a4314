# /// kengine-corpus
# task = "silu_add"
# letter = "C2"
# tries = "Returns at once, and lets a thread launch the kernel later."
# right = ["lint_rejected", "wrong_result", "tampered", "sham", "crashed", "nondeterministic", "launch_failed"]
# dynamic = ["compare", "late writes", "threads", "repeat", "sequence"]
# ///

import _thread
import time

import cupy as cp
import torch

SOURCE = r"""
extern "C" __global__ void silu_add(const float* x, const float* y, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i] / (1.0f + expf(-x[i])) + y[i];
}
"""
KERNEL = cp.RawKernel(SOURCE, "silu_add")


def candidate(x, y):
    out = torch.empty_like(x)
    n = x.numel()

    def work():
        time.sleep(0.002)
        KERNEL(((n + 255) // 256,), (256,), (cp.from_dlpack(x), cp.from_dlpack(y), cp.from_dlpack(out), n))

    _thread.start_new_thread(work, ())
    return out
