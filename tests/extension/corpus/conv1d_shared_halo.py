import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

src = r"""
#include <torch/extension.h>
template <int K>
__global__ void conv1d_k(const float* __restrict__ x, const float* __restrict__ w, const float* __restrict__ b, float* __restrict__ y, int C, int L, int OL) {
  extern __shared__ float tile[];
  const int o = blockIdx.y, n = blockIdx.z, start = blockIdx.x * blockDim.x, O = gridDim.y;
  float acc = b[o];
  for (int c = 0; c < C; ++c) {
    __syncthreads();
    for (int i = threadIdx.x; i < blockDim.x + K - 1; i += blockDim.x) tile[i] = start + i < L ? x[(n * C + c) * L + start + i] : 0.f;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < K; ++k) acc = fmaf(tile[threadIdx.x + k], w[(o * C + c) * K + k], acc);
  }
  if (start + threadIdx.x < OL) y[(n * O + o) * OL + start + threadIdx.x] = acc;
}
torch::Tensor run(torch::Tensor x, torch::Tensor w, torch::Tensor b) {
  const int K = w.size(2), OL = x.size(2) - K + 1, threads = 32;
  auto y = torch::empty({x.size(0), w.size(0), OL}, x.options());
  dim3 grid((OL + threads - 1) / threads, w.size(0), x.size(0));
  size_t smem = (threads + K - 1) * sizeof(float);
  switch (K) {
    case 3: conv1d_k<3><<<grid, threads, smem>>>(x.data_ptr<float>(), w.data_ptr<float>(), b.data_ptr<float>(), y.data_ptr<float>(), x.size(1), x.size(2), OL); break;
    case 5: conv1d_k<5><<<grid, threads, smem>>>(x.data_ptr<float>(), w.data_ptr<float>(), b.data_ptr<float>(), y.data_ptr<float>(), x.size(1), x.size(2), OL); break;
    default: AT_ERROR("kernel size ", K, " is not compiled");
  }
  return y;
}
"""
lib = load_inline("conv1d_halo", "torch::Tensor run(torch::Tensor x, torch::Tensor w, torch::Tensor b);", src, functions=["run"])


class ModelNew(nn.Module):
    def __init__(self, i, o, k):
        super().__init__()
        self.conv = nn.Conv1d(i, o, k)

    def forward(self, x):
        return lib.run(x, self.conv.weight.data, self.conv.bias.data)
