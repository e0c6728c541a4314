"""The golden kernels in CUDA, through CuPy."""

from __future__ import annotations

from kengine.testing.golden import Golden

_ADD_TASK = """
import torch

def reference(x, y):
    return x + y

def make_inputs(seed, device, rows=3000):
    draw = torch.Generator(device).manual_seed(seed)
    return tuple(torch.randn(rows, generator=draw, device=device) for _ in range(2))
"""

_SOFTMAX_TASK = """
import torch

def reference(x):
    return torch.softmax(x, dim=-1)

def make_inputs(seed, device, rows=9, columns=77):
    draw = torch.Generator(device).manual_seed(seed)
    return (torch.randn(rows, columns, generator=draw, device=device),)
"""

_ADD = '''
import cupy as cp
import torch

SOURCE = r"""
extern "C" __global__ void add(float* x, const float* y, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i] + y[i];
}
"""
ADD = cp.RawKernel(SOURCE, "add")

def candidate(x, y):
    out = torch.empty_like(x)
    n = x.numel()
    ADD((-(-n // 256),), (256,), (cp.from_dlpack(x), cp.from_dlpack(y), cp.from_dlpack(out), n))
    return out
'''

_SOFTMAX = '''
import cupy as cp
import torch

SOURCE = r"""
extern "C" __global__ void softmax(const float* x, float* y, int width) {
  __shared__ float part[128];
  const float* row = x + blockIdx.x * width;
  float top = -3.4e38f;
  for (int i = threadIdx.x; i < width; i += blockDim.x) top = fmaxf(top, row[i]);
  part[threadIdx.x] = top;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] = fmaxf(part[threadIdx.x], part[threadIdx.x + half]);
    __syncthreads();
  }
  top = part[0];
  __syncthreads();
  float sum = 0.0f;
  for (int i = threadIdx.x; i < width; i += blockDim.x) sum += expf(row[i] - top);
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  sum = part[0];
  for (int i = threadIdx.x; i < width; i += blockDim.x) y[blockIdx.x * width + i] = expf(row[i] - top) / sum;
}
"""
SOFTMAX = cp.RawKernel(SOURCE, "softmax")

def candidate(x):
    y = torch.empty_like(x)
    rows, width = x.shape
    SOFTMAX((rows,), (128,), (cp.from_dlpack(x), cp.from_dlpack(y), width))
    return y
'''


def _change(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new)


KERNELS = {
    "add_ok": Golden(_ADD, _ADD_TASK),
    "softmax_ok": Golden(_SOFTMAX, _SOFTMAX_TASK),
    "wrong_scale": Golden(_change(_SOFTMAX, "= expf(row[i] - top) / sum", "= 1.01f * expf(row[i] - top) / sum"),
                          _SOFTMAX_TASK),
    "nan_output": Golden(_change(_ADD, "out[i] = x[i]", "out[i] = i == 7 ? __int_as_float(0x7fc00000) : x[i]"),
                         _ADD_TASK),
    "out_of_bounds": Golden(_change(_ADD, "if (i < n) out[i] = x[i]", "out[i] = x[i + 100000000]"), _ADD_TASK),
    "hang": Golden(_change(_ADD, "if (i < n) out[i]", "while (true) atomicAdd(out, 1.0f);\n  if (i < n) out[i]"),
                   _ADD_TASK),
    "compile_error": Golden(_change(_ADD, "out[i] = x[i]", "out[i] = z[i]"), _ADD_TASK),
    "mutates_input": Golden(_change(_ADD, "+ y[i];", "+ y[i];\n  if (i == 0) x[0] = 0.5f;"), _ADD_TASK),
    "empty_output": Golden(_change(_ADD, "return out", "return out[:0]"), _ADD_TASK),
}  # fmt: skip
"""Each name of the kit; most are the first two with one thing changed."""
