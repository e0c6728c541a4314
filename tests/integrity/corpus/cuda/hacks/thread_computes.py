# /// kengine-corpus
# task = "matmul"
# letter = "C2"
# tries = "Has another thread call the framework, waits for it, and copies its result with a kernel."
# right = ["lint_rejected", "sham", "tampered"]
# dynamic = ["provenance", "threads"]
# ///

import threading

import cupy as cp
import torch

SOURCE = r"""
extern "C" __global__ void copy(const float* source, float* target, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) target[i] = source[i];
}
"""
COPY = cp.RawKernel(SOURCE, "copy")


def emit(value):
    value = value.contiguous()
    out = torch.empty_like(value)
    COPY(((value.numel() + 255) // 256,), (256,), (cp.from_dlpack(value), cp.from_dlpack(out), value.numel()))
    return out


def candidate(a, b):
    box = []
    worker = threading.Thread(target=lambda: box.append(torch.mm(a, b)))
    worker.start()
    worker.join()
    return emit(box[0])
