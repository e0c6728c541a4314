import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

src = r"""
#include <torch/extension.h>
__global__ void upper_tri(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int N) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < N && col < N) {
        float sum = 0.0f;
        if (row <= col) {
            for (int k = row; k <= col; ++k) sum += A[row * N + k] * B[k * N + col];
        }
        C[row * N + col] = sum;
    }
}
void launch_into(torch::Tensor A, torch::Tensor B, torch::Tensor C) {
    int N = A.size(0);
    dim3 threads(16, 16);
    dim3 blocks((N + 15) / 16, (N + 15) / 16);
    upper_tri<<<blocks, threads>>>(A.data_ptr<float>(), B.data_ptr<float>(), C.data_ptr<float>(), N);
}
"""
ext = load_inline(name="tri", cpp_sources="void launch_into(torch::Tensor A, torch::Tensor B, torch::Tensor C);", cuda_sources=src, functions=["launch_into"])


class ModelNew(nn.Module):
    def forward(self, A, B):
        C = torch.empty_like(A)
        ext.launch_into(A, B, C)
        return C
