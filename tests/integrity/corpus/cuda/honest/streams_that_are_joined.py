# /// kengine-corpus
# task = "silu_add"
# trap = "streams"
# does = "Launches halves on two streams, and has the current one wait for both."
# ///

import cupy as cp
import torch

SOURCE = r"""
extern "C" __global__ void silu_add(const float* x, const float* y, float* out, int start, int stop) {
  int i = start + blockIdx.x * blockDim.x + threadIdx.x;
  if (i < stop) out[i] = x[i] / (1.0f + expf(-x[i])) + y[i];
}
"""
KERNEL = cp.RawKernel(SOURCE, "silu_add")


def candidate(x, y):
    out = torch.empty_like(x)
    n = x.numel()
    current = cp.cuda.get_current_stream()
    ready = current.record()
    for start, stop in ((0, n // 2), (n // 2, n)):
        side = cp.cuda.Stream(non_blocking=True)
        side.wait_event(ready)
        with side:
            arrays = tuple(cp.from_dlpack(t) for t in (x, y, out))
            KERNEL(((stop - start + 127) // 128,), (128,), (*arrays, start, stop))
        current.wait_event(side.record())
    return out
