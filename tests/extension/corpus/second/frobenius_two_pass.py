import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cuda_source = '''
#include <torch/extension.h>
#include <cuda_runtime.h>

__global__ void sum_squares(const float* x, float* partial, int n) {
    __shared__ float cache[256];
    int tid = threadIdx.x + blockIdx.x * blockDim.x;
    float temp = 0.0f;
    while (tid < n) {
        temp += x[tid] * x[tid];
        tid += blockDim.x * gridDim.x;
    }
    cache[threadIdx.x] = temp;
    __syncthreads();
    int i = blockDim.x / 2;
    while (i != 0) {
        if (threadIdx.x < i) cache[threadIdx.x] += cache[threadIdx.x + i];
        __syncthreads();
        i /= 2;
    }
    if (threadIdx.x == 0) partial[blockIdx.x] = cache[0];
}

__global__ void divide(const float* x, float* y, const float* norm, int n) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < n) y[i] = x[i] / *norm;
}

torch::Tensor frobenius(torch::Tensor x) {
    int n = x.numel();
    int blocks = std::min(32, (n + 255) / 256);
    auto partial = torch::zeros({blocks}, x.options());
    sum_squares<<<blocks, 256>>>(x.data_ptr<float>(), partial.data_ptr<float>(), n);
    torch::Tensor norm = torch::sqrt(partial.sum());
    auto y = torch::empty_like(x);
    divide<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), norm.data_ptr<float>(), n);
    cudaDeviceSynchronize();
    return y;
}
'''
frob = load_inline(name='frob', cpp_sources='torch::Tensor frobenius(torch::Tensor x);', cuda_sources=cuda_source, functions=['frobenius'], verbose=False)


class ModelNew(nn.Module):
    def __init__(self):
        super(ModelNew, self).__init__()

    def forward(self, x):
        return frob.frobenius(x)
