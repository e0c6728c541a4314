import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

gelu_cpp = """
#include <torch/extension.h>
torch::Tensor gelu_forward_cuda(torch::Tensor x);
torch::Tensor gelu_forward(torch::Tensor x) {
    if (!x.is_cuda()) {
        AT_ERROR("gelu_forward: x must be on CUDA, got ", x.device());
    }
    return gelu_forward_cuda(x.contiguous());
}
"""
gelu_cu = """
#include <cuda_runtime.h>
#include <math.h>
#ifndef M_SQRT2
#define M_SQRT2 1.41421356237309504880
#endif

__device__ __forceinline__ float gelu(float x) {
    const float kAlpha = 0.7978845608028654f;
    return 0.5f * x * (1.0f + tanhf(kAlpha * (x + 0.044715f * x * x * x)));
}
__global__ void gelu_forward_kernel(const float* x, float* y, size_t n) {
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)blockDim.x * gridDim.x) {
        y[i] = gelu(x[i]);
    }
}
torch::Tensor gelu_forward_cuda(torch::Tensor x) {
    auto y = at::empty(x.sizes(), x.options());
    gelu_forward_kernel<<<32, 128>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        throw std::runtime_error(std::string("CUDA kernel failed: ") + cudaGetErrorString(err));
    }
    return y;
}
"""
gelu_ext = load_inline("gelu_ext", [gelu_cpp], [gelu_cu], functions=["gelu_forward"], with_cuda=True)


class ModelNew(nn.Module):
    def forward(self, x):
        return gelu_ext.gelu_forward(x)
