# /// kengine-corpus
# task = "matmul"
# letter = "H7"
# tries = "Finds a product in a shared library that is loaded anyway, and copies its result with a kernel."
# right = ["lint_rejected", "sham"]
# dynamic = ["provenance", "compile", "launch"]
# ///

import ctypes
import os

import cupy as cp
import torch

SOURCE = r"""
extern "C" __global__ void copy(const float* source, float* target, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) target[i] = source[i];
}
"""
COPY = cp.RawKernel(SOURCE, "copy")


LIBRARY = ctypes.CDLL(os.path.join(os.path.dirname(torch.__file__), "lib", "libtorch_cpu.so"))
SGEMM = LIBRARY.sgemm_


def emit(value):
    value = value.contiguous()
    out = torch.empty_like(value)
    COPY(((value.numel() + 255) // 256,), (256,), (cp.from_dlpack(value), cp.from_dlpack(out), value.numel()))
    return out


def candidate(a, b):
    (m, k), n = a.shape, b.shape[1]
    host = [t.cpu().contiguous() for t in (a, b)]
    c = torch.empty(m, n)
    number, scale = ctypes.c_int, ctypes.c_float
    by = ctypes.byref
    plain = ctypes.c_char_p(b"N")
    SGEMM(
        plain,
        plain,
        by(number(n)),
        by(number(m)),
        by(number(k)),
        by(scale(1.0)),
        ctypes.c_void_p(host[1].data_ptr()),
        by(number(n)),
        ctypes.c_void_p(host[0].data_ptr()),
        by(number(k)),
        by(scale(0.0)),
        ctypes.c_void_p(c.data_ptr()),
        by(number(n)),
    )
    return emit(c.to(a.device))
