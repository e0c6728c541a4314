"""The golden kernels in HIP: through CuPy, and as bare files with a launch block."""

from __future__ import annotations

from kengine.testing.golden import Golden

_FILE = "candidate.hip"

_ADD_TASK = """
import torch

def reference(x, y):
    return x + y

def make_inputs(seed, device, n=300):
    draw = torch.Generator(device).manual_seed(seed)
    return tuple(torch.randn(n, generator=draw, device=device) for _ in range(2))
"""

_SOFTMAX_TASK = """
import torch

def reference(x):
    return torch.softmax(x, dim=1)

def make_inputs(seed, device, rows=5, columns=77):
    draw = torch.Generator(device).manual_seed(seed)
    return (torch.randn(rows, columns, generator=draw, device=device),)
"""

_ADD = """
import cupy
import torch

KERNEL = cupy.RawKernel(
    r'''
extern "C" __global__ void add(const float* x, const float* y, float* z, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) z[i] = x[i] + y[i];
}
''',
    "add",
)


def candidate(x, y):
    n = x.numel()
    out = torch.empty_like(x)
    KERNEL((-(-n // 128),), (128,), (*(cupy.from_dlpack(t) for t in (x, y, out)), cupy.int32(n)))
    return out
"""

_SOFTMAX = """
// /// kengine
// grid = "x.shape[0]"
// block = 64
// inputs = ["x"]
// outputs = ["y"]
// sizes = { width = "x.shape[1]" }
// ///
#include <hip/hip_runtime.h>

__global__ void softmax(const float* x, float* y, int width) {
  __shared__ float scratch[64];
  const float* row = x + blockIdx.x * width;
  float largest = -INFINITY, sum = 0.0f;
  for (int i = threadIdx.x; i < width; i += blockDim.x) largest = fmaxf(largest, row[i]);
  scratch[threadIdx.x] = largest;
  __syncthreads();
  for (int k = 0; k < blockDim.x; ++k) largest = fmaxf(largest, scratch[k]);
  __syncthreads();
  for (int i = threadIdx.x; i < width; i += blockDim.x) sum += expf(row[i] - largest);
  scratch[threadIdx.x] = sum;
  __syncthreads();
  sum = 0.0f;
  for (int k = 0; k < blockDim.x; ++k) sum += scratch[k];
  for (int i = threadIdx.x; i < width; i += blockDim.x) y[blockIdx.x * width + i] = expf(row[i] - largest) / sum;
}
"""


def _change(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new)


KERNELS = {
    "add_ok": Golden(_ADD, _ADD_TASK),
    "softmax_ok": Golden(_SOFTMAX, _SOFTMAX_TASK, _FILE),
    "wrong_scale": Golden(_change(_ADD, "x[i] + y[i]", "1.01f * (x[i] + y[i])"), _ADD_TASK),
    "nan_output": Golden(_change(_ADD, "x[i] + y[i]", "i == 7 ? NAN : x[i] + y[i]"), _ADD_TASK),
    "out_of_bounds": Golden(_change(_ADD, "x[i] + y[i]", "x[i] + y[i + 100000000]"), _ADD_TASK),
    "hang": Golden(
        _change(_ADD, "  if (i < n)", "  volatile int turn = 1;\n  while (turn) turn = turn | 1;\n  if (i < n)"),
        _ADD_TASK,
    ),
    "compile_error": Golden(_change(_SOFTMAX, "expf(row[i] - largest) / sum", "expf(line[i])"), _SOFTMAX_TASK, _FILE),
    "mutates_input": Golden(
        _change(_ADD, "z[i] = x[i] + y[i];", "z[i] = x[i] + y[i];\n  if (i == 3) const_cast<float*>(x)[i] = 0.0f;"),
        _ADD_TASK,
    ),
    "empty_output": Golden(_change(_ADD, "return out", "return out[:0]"), _ADD_TASK),
}
"""Each name of the kit; most are the first two with one thing changed."""
