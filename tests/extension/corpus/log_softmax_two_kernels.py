import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cuda_source = '''
#include <torch/extension.h>
#include <cuda_runtime.h>
#include <tuple>

__global__ void row_stats(const float* x, float* maxes, float* sums, int n) {
    __shared__ float buf[32];
    int lane = threadIdx.x & 31, wid = threadIdx.x >> 5, warps = blockDim.x >> 5;
    const float* row = x + (size_t)blockIdx.x * n;
    float m = -1e38f;
    for (int i = threadIdx.x; i < n; i += blockDim.x) m = fmaxf(m, row[i]);
    for (int o = 16; o; o >>= 1) m = fmaxf(m, __shfl_down_sync(0xffffffff, m, o));
    if (lane == 0) buf[wid] = m;
    __syncthreads();
    if (wid == 0) {
        m = lane < warps ? buf[lane] : -1e38f;
        for (int o = 16; o; o >>= 1) m = fmaxf(m, __shfl_down_sync(0xffffffff, m, o));
        if (lane == 0) buf[0] = m;
    }
    __syncthreads();
    m = buf[0];
    __syncthreads();
    float s = 0.f;
    for (int i = threadIdx.x; i < n; i += blockDim.x) s += expf(row[i] - m);
    for (int o = 16; o; o >>= 1) s += __shfl_down_sync(0xffffffff, s, o);
    if (lane == 0) buf[wid] = s;
    __syncthreads();
    if (threadIdx.x == 0) {
        float t = 0.f;
        for (int w = 0; w < warps; ++w) t += buf[w];
        maxes[blockIdx.x] = m;
        sums[blockIdx.x] = t;
    }
}
__global__ void normalise(const float* x, const float* maxes, const float* sums, float* y, int n, int total) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < total) y[i] = x[i] - maxes[i / n] - logf(sums[i / n]);
}
std::tuple<torch::Tensor, torch::Tensor, torch::Tensor> log_softmax_full(torch::Tensor x) {
    const auto rows = x.size(0), n = x.size(1);
    auto opts = torch::TensorOptions().dtype(torch::kFloat32).device(torch::kCUDA, 0);
    auto maxes = torch::empty({rows}, opts);
    auto sums = torch::empty(rows, opts);
    auto y = torch::empty({rows, n}, opts);
    row_stats<<<rows, 128>>>(x.data_ptr<float>(), maxes.data_ptr<float>(), sums.data_ptr<float>(), n);
    normalise<<<(rows * n + 255) / 256, 256>>>(x.data_ptr<float>(), maxes.data_ptr<float>(), sums.data_ptr<float>(), y.data_ptr<float>(), n, rows * n);
    return std::make_tuple(y, maxes, sums);
}
'''
cpp_source = "std::tuple<torch::Tensor, torch::Tensor, torch::Tensor> log_softmax_full(torch::Tensor x);"
lsm = load_inline(name="lsm", cpp_sources=[cpp_source], cuda_sources=[cuda_source], functions=["log_softmax_full"])


class ModelNew(nn.Module):
    def forward(self, x):
        y, _, sums = lsm.log_softmax_full(x)
        assert sums.shape == (x.shape[0],)
        return y
