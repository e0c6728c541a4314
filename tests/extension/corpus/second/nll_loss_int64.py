import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

nll_src = r"""
#include <torch/extension.h>

__global__ void nll(const float* __restrict__ logp, const int64_t* __restrict__ target, float* __restrict__ out, int64_t batch, int64_t classes, int64_t ignore_index) {
  __shared__ double total;
  __shared__ int count;
  if (threadIdx.x == 0) { total = 0.0; count = 0; }
  __syncthreads();
  for (int64_t i = threadIdx.x; i < batch; i += blockDim.x) {
    int64_t t = target[i];
    if (t == ignore_index) continue;
    atomicAdd(&total, -(double)logp[i * classes + t]);
    atomicAdd(&count, 1);
  }
  __syncthreads();
  if (threadIdx.x == 0) out[0] = (float)(total / count);
}

at::Tensor nll_loss(const at::Tensor& logp, const at::Tensor& target, int64_t ignore_index) {
  TORCH_CHECK(target.scalar_type() == at::kLong, "target must be int64");
  auto out = at::zeros({}, logp.options());
  nll<<<1, 64>>>(logp.const_data_ptr<float>(), target.const_data_ptr<int64_t>(), out.mutable_data_ptr<float>(), logp.size(0), logp.size(1), ignore_index);
  return out;
}
"""
nll = load_inline("nll_ext", "at::Tensor nll_loss(const at::Tensor& logp, const at::Tensor& target, int64_t ignore_index);", nll_src, functions="nll_loss")


class ModelNew(nn.Module):
    def forward(self, logp, target):
        return nll.nll_loss(logp, target, -100)
