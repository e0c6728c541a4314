import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

src = r"""
#include <torch/extension.h>
#include <cstdint>
__global__ void quant(const float* x, int8_t* q, float* scale, int n) {
  __shared__ unsigned int amax;
  if (threadIdx.x == 0) amax = 0u;
  __syncthreads();
  float m = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) m = fmaxf(m, fabsf(x[blockIdx.x * n + i]));
  atomicMax(&amax, __float_as_uint(m));
  __syncthreads();
  const float s = __uint_as_float(amax) / 127.f;
  if (threadIdx.x == 0) scale[blockIdx.x] = s;
  for (int i = threadIdx.x; i < n; i += blockDim.x) q[blockIdx.x * n + i] = (int8_t)max(-127, min(127, __float2int_rn(x[blockIdx.x * n + i] / s)));
}
__global__ void dequant(const int8_t* q, const float* scale, float* y, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[blockIdx.x * n + i] = q[blockIdx.x * n + i] * scale[blockIdx.x];
}
std::vector<torch::Tensor> quantize(torch::Tensor x) {
  auto q = torch::empty(x.sizes(), x.options().dtype(torch::kInt8));
  auto s = torch::empty({x.size(0), 1}, x.options());
  quant<<<x.size(0), 64>>>(x.data_ptr<float>(), q.data_ptr<int8_t>(), s.data_ptr<float>(), x.size(1));
  return {q, s};
}
torch::Tensor dequantize(torch::Tensor q, torch::Tensor s) {
  auto y = torch::empty(q.sizes(), s.options());
  dequant<<<q.size(0), 64>>>(q.data_ptr<int8_t>(), s.data_ptr<float>(), y.data_ptr<float>(), q.size(1));
  return y;
}
"""
decl = """
std::vector<torch::Tensor> quantize(torch::Tensor x);
torch::Tensor dequantize(torch::Tensor q, torch::Tensor s);
"""
ext = load_inline(name="int8q", cpp_sources=decl, cuda_sources=src, functions=["quantize", "dequantize"])


class ModelNew(nn.Module):
    def forward(self, x):
        q, s = ext.quantize(x)
        assert q.dtype == torch.int8
        return ext.dequantize(q, s)
