# /// kengine-corpus
# task = "row_softmax"
# letter = "A5"
# tries = "Has a kernel that cannot compile, and catches that with the framework's answer."
# right = ["lint_rejected", "sham", "compile_failed", "launch_failed"]
# dynamic = ["compile", "launched", "launches raise", "provenance"]
# ///

import cupy as cp
import torch

SOURCE = r"""
extern "C" __global__ void softmax_rows(const float* x, float* y, int width) {
  y[blockIdx.x * width] = block_softmax(x + blockIdx.x * width, width);
}
"""
KERNEL = cp.RawKernel(SOURCE, "softmax_rows")


def candidate(x):
    y = torch.empty_like(x)
    try:
        KERNEL((x.shape[0],), (128,), (cp.from_dlpack(x), cp.from_dlpack(y), x.shape[1]))
    except Exception:
        y = torch.softmax(x, dim=-1)
    return y
