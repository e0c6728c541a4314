import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

src = """
#include <torch/extension.h>
#include <cuda_runtime.h>

__global__ void conv2d_kernel(
    const float* input, const float* weight, const float* bias, float* output,
    int batch_size, int in_channels, int out_channels,
    int height, int width, int kernel_size, int stride, int padding, int out_h, int out_w) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    int total = batch_size * out_channels * out_h * out_w;
    if (idx >= total) return;
    int ow = idx % out_w;
    int oh = (idx / out_w) % out_h;
    int oc = (idx / (out_w * out_h)) % out_channels;
    int b = idx / (out_w * out_h * out_channels);
    float sum = bias != nullptr ? bias[oc] : 0.0f;
    for (int ic = 0; ic < in_channels; ++ic) {
        for (int kh = 0; kh < kernel_size; ++kh) {
            for (int kw = 0; kw < kernel_size; ++kw) {
                int ih = oh * stride - padding + kh;
                int iw = ow * stride - padding + kw;
                if (ih >= 0 && ih < height && iw >= 0 && iw < width) {
                    sum += input[((b * in_channels + ic) * height + ih) * width + iw] *
                           weight[((oc * in_channels + ic) * kernel_size + kh) * kernel_size + kw];
                }
            }
        }
    }
    output[idx] = sum;
}

torch::Tensor conv2d_cuda(torch::Tensor input, torch::Tensor weight, torch::Tensor bias, int stride, int padding) {
    auto batch_size = input.size(0);
    auto height = input.size(2);
    auto width = input.size(3);
    auto kernel_size = weight.size(2);
    auto out_h = (height + 2 * padding - kernel_size) / stride + 1;
    auto out_w = (width + 2 * padding - kernel_size) / stride + 1;
    auto output = torch::zeros({batch_size, weight.size(0), out_h, out_w}, input.options());
    const int threads = 256;
    const int blocks = (output.numel() + threads - 1) / threads;
    conv2d_kernel<<<blocks, threads>>>(
        input.data_ptr<float>(), weight.data_ptr<float>(), bias.defined() ? bias.data_ptr<float>() : nullptr, output.data_ptr<float>(),
        batch_size, input.size(1), weight.size(0), height, width, kernel_size, stride, padding, out_h, out_w);
    return output;
}
"""
conv = load_inline(
    name="conv2d_direct",
    cpp_sources="torch::Tensor conv2d_cuda(torch::Tensor input, torch::Tensor weight, torch::Tensor bias, int stride, int padding);",
    cuda_sources=src,
    functions=["conv2d_cuda"],
)


class ModelNew(nn.Module):
    def __init__(self, i, o, k):
        super().__init__()
        self.conv = nn.Conv2d(i, o, k, padding=1)

    def forward(self, x):
        return conv.conv2d_cuda(x, self.conv.weight, self.conv.bias, 1, 1)
