import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

argmax_source = """
#include <torch/extension.h>
#include <cuda_runtime.h>

__global__ void argmax_kernel(const float* x, long* out, const int rows, const int cols) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float best = x[row * cols];
        long where = 0;
        for (int c = 1; c < cols; ++c) {
            const float v = x[row * cols + c];
            if (v > best) {
                best = v;
                where = c;
            }
        }
        out[row] = where;
    }
}

torch::Tensor argmax_cuda(torch::Tensor x, int dim) {
    TORCH_CHECK(dim == x.dim() - 1);
    auto x_c = x.contiguous();
    int cols = x_c.size(dim);
    int rows = x_c.numel() / cols;
    std::vector<int64_t> out_sizes;
    for (int i = 0; i < x.dim() - 1; ++i) out_sizes.push_back(x.size(i));
    auto out = torch::zeros(at::IntArrayRef(out_sizes), x.options().dtype(torch::kLong));
    argmax_kernel<<<(rows + 63) / 64, 64>>>(x_c.data_ptr<float>(), out.data_ptr<long>(), rows, cols);
    return out;
}
"""
lib = load_inline(name="argmax_cuda", cpp_sources="torch::Tensor argmax_cuda(torch::Tensor x, int dim);", cuda_sources=argmax_source, functions=["argmax_cuda"])


class ModelNew(nn.Module):
    def forward(self, x):
        return lib.argmax_cuda(x, 2)
