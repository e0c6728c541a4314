import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cpp_src = '''
torch::Tensor layernorm_forward(torch::Tensor input, torch::Tensor weight, torch::Tensor bias, float eps);
'''
cuda_src = '''
#include <torch/extension.h>
#include <ATen/ATen.h>
#include <ATen/AccumulateType.h>
#include <cuda.h>
#include <cuda_runtime.h>

template <typename scalar_t>
__global__ void layernorm_forward_kernel(
    const scalar_t* __restrict__ input,
    const scalar_t* __restrict__ weight,
    const scalar_t* __restrict__ bias,
    const float eps,
    scalar_t* __restrict__ output,
    const int normalized_size) {
  int instance_idx = blockIdx.x;
  int tid = threadIdx.x;
  using accscalar_t = at::acc_type<scalar_t, true>;
  const scalar_t* in_ptr = input + instance_idx * normalized_size;
  scalar_t* out_ptr = output + instance_idx * normalized_size;
  extern __shared__ char smem[];
  accscalar_t* s_sum = reinterpret_cast<accscalar_t*>(smem);
  accscalar_t* s_sum_sq = s_sum + blockDim.x;
  accscalar_t local_sum = 0;
  accscalar_t local_sum_sq = 0;
  for (int i = tid; i < normalized_size; i += blockDim.x) {
    accscalar_t val = static_cast<accscalar_t>(__ldg(&in_ptr[i]));
    local_sum += val;
    local_sum_sq += val * val;
  }
  s_sum[tid] = local_sum;
  s_sum_sq[tid] = local_sum_sq;
  __syncthreads();
  for (int stride = blockDim.x / 2; stride > 0; stride >>= 1) {
    if (tid < stride) {
      s_sum[tid] += s_sum[tid + stride];
      s_sum_sq[tid] += s_sum_sq[tid + stride];
    }
    __syncthreads();
  }
  __shared__ accscalar_t mean;
  __shared__ accscalar_t inv_std;
  if (tid == 0) {
    mean = s_sum[0] / static_cast<accscalar_t>(normalized_size);
    accscalar_t var = s_sum_sq[0] / static_cast<accscalar_t>(normalized_size) - mean * mean;
    inv_std = static_cast<accscalar_t>(1) / sqrt(var + static_cast<accscalar_t>(eps));
  }
  __syncthreads();
  for (int i = tid; i < normalized_size; i += blockDim.x) {
    accscalar_t norm_val = (static_cast<accscalar_t>(in_ptr[i]) - mean) * inv_std;
    out_ptr[i] = static_cast<scalar_t>(norm_val * static_cast<accscalar_t>(weight[i]) + static_cast<accscalar_t>(bias[i]));
  }
}

torch::Tensor layernorm_forward(torch::Tensor input, torch::Tensor weight, torch::Tensor bias, float eps) {
  auto output = torch::empty_like(input);
  int normalized_size = weight.numel();
  int outer_size = input.numel() / normalized_size;
  int threads = (normalized_size < 1024) ? normalized_size : 1024;
  int pow2 = 1;
  while (pow2 < threads) pow2 <<= 1;
  threads = std::min(pow2, 1024);
  AT_DISPATCH_FLOATING_TYPES(input.scalar_type(), "layernorm_forward_cuda", ([&] {
    using accscalar_t = at::acc_type<scalar_t, true>;
    int shared_size = threads * 2 * sizeof(accscalar_t);
    layernorm_forward_kernel<scalar_t><<<outer_size, threads, shared_size>>>(
        input.data_ptr<scalar_t>(), weight.data_ptr<scalar_t>(), bias.data_ptr<scalar_t>(), eps, output.data_ptr<scalar_t>(), normalized_size);
  }));
  return output;
}
'''
ext = load_inline(name='layernorm_ext', cpp_sources=cpp_src, cuda_sources=cuda_src, functions=['layernorm_forward'], verbose=True)


class ModelNew(nn.Module):
    def __init__(self, dim):
        super(ModelNew, self).__init__()
        self.weight = nn.Parameter(torch.ones(dim))
        self.bias = nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        return ext.layernorm_forward(x, self.weight, self.bias, 1e-5)
