import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

src = """
#include <torch/extension.h>
__global__ void avgpool(const float *x, float *y, int C, int H, int W, int k, int OH, int OW)
{
    int ox = blockIdx.x * blockDim.x + threadIdx.x;
    int oy = blockIdx.y * blockDim.y + threadIdx.y;
    int nc = blockIdx.z;
    if (ox < OW && oy < OH)
    {
        float acc = 0.f;
        for (int i = 0; i < k; ++i)
            for (int j = 0; j < k; ++j)
                acc += x[nc * H * W + (oy * k + i) * W + ox * k + j];
        y[nc * OH * OW + oy * OW + ox] = acc / (k * k);
    }
}
torch::Tensor avgpool_cuda(torch::Tensor x, int k)
{
    TORCH_CHECK(x.ndimension() == 4, "4D input expected");
    int N = x.size(0), C = x.size(1), H = x.size(2), W = x.size(3);
    int OH = H / k, OW = W / k;
    auto y = torch::empty({N, C, OH, OW}, torch::TensorOptions().device(x.device()).dtype(torch::kFloat32).requires_grad(false));
    dim3 block(16, 16);
    dim3 grid((OW + 15) / 16, (OH + 15) / 16, N * C);
    avgpool<<<grid, block>>>(x.data_ptr<float>(), y.data_ptr<float>(), C, H, W, k, OH, OW);
    return y;
}
"""
lib = load_inline(name="avgpool", cpp_sources="torch::Tensor avgpool_cuda(torch::Tensor x, int k);", cuda_sources=src, functions=["avgpool_cuda"])


class ModelNew(nn.Module):
    def forward(self, x):
        return lib.avgpool_cuda(x, 2)
