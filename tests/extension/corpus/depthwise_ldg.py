import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

src = r"""
#include <torch/extension.h>
#include <cuda_runtime.h>
#define CUDA_1D_KERNEL_LOOP(i, n) for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += blockDim.x * gridDim.x)
template <typename scalar_t>
__global__ void depthwise(const int n, const scalar_t* x, const scalar_t* w, scalar_t* y, int C, int H, int W, int K, int P, int OH, int OW) {
  CUDA_1D_KERNEL_LOOP(i, n) {
    const int ow = i % OW, oh = (i / OW) % OH, c = (i / OW / OH) % C, b = i / OW / OH / C;
    scalar_t s(0);
    for (int p = 0; p < K; ++p) {
      const int h = oh + p - P;
      if (h < 0 || h >= H) continue;
      for (int q = 0; q < K; ++q) {
        const int v = ow + q - P;
        if (v < 0 || v >= W) continue;
        s += __ldg(x + ((b * C + c) * H + h) * W + v) * __ldg(w + (c * K + p) * K + q);
      }
    }
    y[i] = s;
  }
}
torch::Tensor depthwise_forward(const torch::Tensor& x, const torch::Tensor& w, int64_t padding) {
  int K = w.size(-1), OH = x.size(2) + 2 * padding - K + 1, OW = x.size(3) + 2 * padding - K + 1;
  auto y = torch::empty({x.size(0), x.size(1), OH, OW}, x.options());
  const int n = y.numel();
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "depthwise_forward", [&] {
    depthwise<scalar_t><<<std::min((n + 511) / 512, 65535), 512>>>(n, x.data_ptr<scalar_t>(), w.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), x.size(1), x.size(2), x.size(3), K, padding, OH, OW);
  });
  return y;
}
"""
lib = load_inline(name="depthwise", cpp_sources="torch::Tensor depthwise_forward(const torch::Tensor& x, const torch::Tensor& w, int64_t padding);", cuda_sources=src, functions=["depthwise_forward"])


class ModelNew(nn.Module):
    def __init__(self, c, k):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(c, 1, k, k))

    def forward(self, x):
        return lib.depthwise_forward(x, self.weight, 1)
