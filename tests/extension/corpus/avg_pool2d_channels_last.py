import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

src = r"""
#include <torch/extension.h>
__global__ void avgpool_nhwc(const float* x, float* y, int H, int W, int C, int k) {
  int c = threadIdx.x;
  int ow = blockIdx.x, oh = blockIdx.y, n = blockIdx.z;
  float acc = 0.f;
  for (int i = 0; i < k; ++i)
    for (int j = 0; j < k; ++j) acc += x[((n * H + oh * k + i) * W + ow * k + j) * C + c];
  y[((n * gridDim.y + oh) * gridDim.x + ow) * C + c] = acc / float(k * k);
}
torch::Tensor avgpool(torch::Tensor x, int k) {
  auto nhwc = x.permute({0, 2, 3, 1}).contiguous();
  int N = nhwc.size(0), H = nhwc.size(1), W = nhwc.size(2), C = nhwc.size(3);
  auto y = torch::empty({N, H / k, W / k, C}, nhwc.options());
  avgpool_nhwc<<<dim3(W / k, H / k, N), C>>>(nhwc.data_ptr<float>(), y.data_ptr<float>(), H, W, C, k);
  return y.permute({0, 3, 1, 2}).contiguous();
}
"""
lib = load_inline(name="avgpool_nhwc", cpp_sources="torch::Tensor avgpool(torch::Tensor x, int k);", cuda_sources=src, functions=["avgpool"])


class ModelNew(nn.Module):
    def forward(self, x):
        return lib.avgpool(x, 2)
