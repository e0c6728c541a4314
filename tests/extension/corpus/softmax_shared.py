import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

softmax_source = """
#include <torch/extension.h>
#include <cuda_runtime.h>
#include <float.h>

__global__ void softmax_kernel(const float* input, float* output, int rows, int cols) {
    extern __shared__ float sdata[];
    int row = blockIdx.x;
    int tid = threadIdx.x;
    const float* in = input + row * cols;
    float* out = output + row * cols;

    float max_val = -FLT_MAX;
    for (int i = tid; i < cols; i += blockDim.x) max_val = fmaxf(max_val, in[i]);
    sdata[tid] = max_val;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) sdata[tid] = fmaxf(sdata[tid], sdata[tid + s]);
        __syncthreads();
    }
    max_val = sdata[0];
    __syncthreads();

    float sum = 0.0f;
    for (int i = tid; i < cols; i += blockDim.x) {
        float e = expf(in[i] - max_val);
        out[i] = e;
        sum += e;
    }
    sdata[tid] = sum;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) sdata[tid] += sdata[tid + s];
        __syncthreads();
    }
    sum = sdata[0];
    for (int i = tid; i < cols; i += blockDim.x) out[i] /= sum;
}

torch::Tensor softmax_cuda(torch::Tensor input) {
    auto output = torch::empty_like(input);
    int rows = input.size(0);
    int cols = input.size(1);
    int threads = 128;
    softmax_kernel<<<rows, threads, threads * sizeof(float)>>>(input.data_ptr<float>(), output.data_ptr<float>(), rows, cols);
    return output;
}
"""
softmax = load_inline(
    name="softmax",
    cpp_sources="torch::Tensor softmax_cuda(torch::Tensor input);",
    cuda_sources=softmax_source,
    functions=["softmax_cuda"],
)


class ModelNew(nn.Module):
    def forward(self, x):
        return softmax.softmax_cuda(x)
