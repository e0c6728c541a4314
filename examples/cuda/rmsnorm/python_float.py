"""RMSNorm that passes a Python float, which CuPy makes a double, for a float. Expected: launch_failed."""

# /// kengine
# name = "rmsnorm"
# category = "normalization"
# level = 1
# license = "Apache-2.0"
# dtypes = ["float32", "float16"]
#
# [[cases]]
# M = 4
# N = 128
#
# [[cases]]
# M = 3
# N = 127
#
# [[cases]]
# M = 5
# N = 1000
# layout = "strided"
# ///

import cupy as cp
import torch


def make_inputs(seed, device, M=4, N=128):
    draw = torch.Generator(device).manual_seed(seed)
    rows = torch.randn(M, N, generator=draw, device=device)
    gain = torch.rand(N, generator=draw, device=device) + 0.5
    return rows, gain


def reference(x, gain):
    wide = x.float()
    scale = torch.rsqrt(wide.square().mean(dim=-1, keepdim=True) + 1e-6)
    return (wide * scale * gain.float()).to(x.dtype)


SOURCE = r"""
#include <cuda_fp16.h>

__device__ float sum_of_warp(float value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffffu, value, offset);
  return value;
}

template <typename T>
__global__ void rmsnorm(const T* x, const T* gain, T* y, int width, int x_step, int x_unit, int gain_unit, float eps) {
  __shared__ float partial[32];
  const T* row = x + blockIdx.x * x_step;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < width; i += blockDim.x) {
    float value = float(row[i * x_unit]);
    sum += value * value;
  }
  sum = sum_of_warp(sum);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : 0.0f;
    sum = sum_of_warp(sum);
    if (threadIdx.x == 0) partial[0] = rsqrtf(sum / width + eps);
  }
  __syncthreads();
  float scale = partial[0];
  for (int i = threadIdx.x; i < width; i += blockDim.x)
    y[blockIdx.x * width + i] = T(float(row[i * x_unit]) * scale * float(gain[i * gain_unit]));
}
"""
TYPES = {torch.float32: "float", torch.float16: "__half"}
MODULE = cp.RawModule(code=SOURCE, options=("-std=c++17",), name_expressions=[f"rmsnorm<{t}>" for t in TYPES.values()])


def candidate(x, gain):
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    kernel = MODULE.get_function(f"rmsnorm<{TYPES[x.dtype]}>")
    rows, width = x.shape
    x_step, x_unit = x.stride()
    arguments = (cp.from_dlpack(x), cp.from_dlpack(gain), cp.from_dlpack(y), width, x_step, x_unit, gain.stride(0))
    kernel((rows,), (128,), (*arguments, 1e-6))
    return y
