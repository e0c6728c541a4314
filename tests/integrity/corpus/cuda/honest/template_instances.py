# /// kengine-corpus
# task = "half_matmul"
# trap = "casts"
# does = "Instantiates a template for each type by name expressions, and adds in single precision."
# ///

import cupy as cp
import torch

SOURCE = r"""
#include <cuda_fp16.h>

template <typename T>
__global__ void product(const T* a, const T* b, T* c, int m, int n, int k) {
  int row = blockIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= n) return;
  float sum = 0.0f;
  for (int t = 0; t < k; ++t) sum += float(a[row * k + t]) * float(b[t * n + column]);
  c[row * n + column] = T(sum);
}
"""


TYPES = {torch.float32: "float", torch.float16: "__half"}
MODULE = cp.RawModule(code=SOURCE, options=("-std=c++17",), name_expressions=[f"product<{t}>" for t in TYPES.values()])


def candidate(a, b):
    (m, k), n = a.shape, b.shape[1]
    c = torch.empty((m, n), dtype=a.dtype, device=a.device)
    kernel = MODULE.get_function(f"product<{TYPES[a.dtype]}>")
    kernel(((n + 31) // 32, m), (32,), (cp.from_dlpack(a), cp.from_dlpack(b), cp.from_dlpack(c), m, n, k))
    return c
