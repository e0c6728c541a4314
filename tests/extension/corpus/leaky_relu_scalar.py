import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cuda_code = """
#include <torch/extension.h>
#include <cuda_runtime.h>

__global__ void leaky_relu(const float* x, float* out, float slope, int size) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx < size) out[idx] = x[idx] >= 0 ? x[idx] : slope * x[idx];
}

torch::Tensor leaky_relu_cuda(torch::Tensor x, double negative_slope, c10::optional<torch::Tensor> out) {
    auto size = x.numel();
    torch::Tensor result = out.has_value() ? out.value() : torch::empty_like(x);
    const int block_size = 256;
    const int num_blocks = (size + block_size - 1) / block_size;
    leaky_relu<<<num_blocks, block_size>>>(x.data_ptr<float>(), result.data_ptr<float>(), static_cast<float>(negative_slope), size);
    return result;
}
"""
cpp = "torch::Tensor leaky_relu_cuda(torch::Tensor x, double negative_slope, c10::optional<torch::Tensor> out);"
lib = load_inline(name="leaky_relu", cpp_sources=cpp, cuda_sources=cuda_code, functions=["leaky_relu_cuda"], verbose=False)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.leaky_relu = lib

    def forward(self, x):
        first = self.leaky_relu.leaky_relu_cuda(x, 0.01, None)
        return self.leaky_relu.leaky_relu_cuda(x, 0.01, torch.empty_like(first))
