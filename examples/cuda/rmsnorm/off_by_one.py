"""RMSNorm as an extension of torch: whose last loop runs one element too far. Expected: launch_failed."""

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

import torch
from torch.utils.cpp_extension import load_inline


def make_inputs(seed, device, M=4, N=128):
    draw = torch.Generator(device).manual_seed(seed)
    rows = torch.randn(M, N, generator=draw, device=device)
    gain = torch.rand(N, generator=draw, device=device) + 0.5
    return rows, gain


def reference(x, gain):
    wide = x.float()
    scale = torch.rsqrt(wide.square().mean(dim=-1, keepdim=True) + 1e-6)
    return (wide * scale * gain.float()).to(x.dtype)


CPP = "torch::Tensor rmsnorm(torch::Tensor x, torch::Tensor gain, double eps);"
CUDA = r"""
#include <torch/extension.h>
#include <cuda_fp16.h>

__device__ float widen(float value) { return value; }
__device__ float widen(__half value) { return __half2float(value); }
__device__ void store(float* at, float value) { *at = value; }
__device__ void store(__half* at, float value) { *at = __float2half(value); }

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
    float value = widen(row[i * x_unit]);
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
  for (int i = threadIdx.x; i <= width; i += blockDim.x)
    store(y + blockIdx.x * width + i, widen(row[i * x_unit]) * scale * widen(gain[i * gain_unit]));
}

torch::Tensor rmsnorm(torch::Tensor x, torch::Tensor gain, double eps) {
  auto y = torch::empty({x.size(0), x.size(1)}, x.options());
  int rows = x.size(0), width = x.size(1);
  if (x.scalar_type() == torch::kFloat)
    rmsnorm<float><<<rows, 128>>>(x.data_ptr<float>(), gain.data_ptr<float>(), y.data_ptr<float>(), width, x.stride(0),
                                  x.stride(1), gain.stride(0), eps);
  else
    rmsnorm<__half><<<rows, 128>>>((const __half*)x.data_ptr<at::Half>(), (const __half*)gain.data_ptr<at::Half>(),
                                   (__half*)y.data_ptr<at::Half>(), width, x.stride(0), x.stride(1), gain.stride(0), eps);
  return y;
}
"""
EXTENSION = load_inline("rmsnorm", cpp_sources=CPP, cuda_sources=CUDA, functions=["rmsnorm"])


def candidate(x, gain):
    return EXTENSION.rmsnorm(x, gain, 1e-6)
