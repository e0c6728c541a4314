import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

src = """
#include <torch/extension.h>
#include <cuda_runtime.h>
__global__ void bn_inference(const float* __restrict__ x, const float* __restrict__ mean, const float* __restrict__ var,
        const float* __restrict__ gamma, const float* __restrict__ beta, float* __restrict__ y, float eps, int C, int HW) {
    int c = blockIdx.y, n = blockIdx.z;
    float s = gamma[c] * rsqrtf(var[c] + eps), t = beta[c] - mean[c] * s;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < HW) {
        size_t at = ((size_t)n * C + c) * HW + i;
        y[at] = fmaf(x[at], s, t);
    }
}
torch::Tensor bn(torch::Tensor x, torch::Tensor mean, torch::Tensor var, torch::Tensor gamma, torch::Tensor beta, float eps) {
    for (const auto& t : {mean, var, gamma, beta}) TORCH_CHECK(t.numel() == x.size(1), "size mismatch");
    auto y = torch::empty_like(x);
    const int N = x.size(0), C = x.size(1), HW = x.size(2) * x.size(3);
    dim3 grid((HW + 255) / 256, C, N);
    bn_inference<<<grid, 256>>>(x.data_ptr<float>(), mean.data_ptr<float>(), var.data_ptr<float>(), gamma.data_ptr<float>(), beta.data_ptr<float>(), y.data_ptr<float>(), eps, C, HW);
    return y;
}
"""
bn_ext = load_inline("bn_ext", "torch::Tensor bn(torch::Tensor x, torch::Tensor mean, torch::Tensor var, torch::Tensor gamma, torch::Tensor beta, float eps);", src, functions=["bn"])


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.bn = nn.BatchNorm2d(channels).eval()

    def forward(self, x):
        b = self.bn
        return bn_ext.bn(x, b.running_mean, b.running_var, b.weight, b.bias, b.eps)
