import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

src = r"""
#include <torch/extension.h>
#include <c10/cuda/CUDAException.h>
#define MAX_W 4096
__constant__ float c_weight[MAX_W];
__global__ void conv1d(const float* x, const float* bias, float* y, int C, int L, int O, int K, int OL) {
  int l = blockIdx.x * blockDim.x + threadIdx.x, o = blockIdx.y, n = blockIdx.z;
  if (l >= OL) return;
  float s = bias[o];
  for (int c = 0; c < C; ++c)
    for (int k = 0; k < K; ++k) s += x[(n * C + c) * L + l + k] * c_weight[(o * C + c) * K + k];
  y[(n * O + o) * OL + l] = s;
}
torch::Tensor conv1d_forward(torch::Tensor x, torch::Tensor w, torch::Tensor b) {
  TORCH_CHECK(w.numel() <= MAX_W, "weights do not fit constant memory");
  auto wc = w.contiguous();
  C10_CUDA_CHECK(cudaMemcpyToSymbol(c_weight, wc.data_ptr<float>(), wc.nbytes(), 0, cudaMemcpyDeviceToDevice));
  int OL = x.size(2) - w.size(2) + 1;
  auto y = torch::empty({x.size(0), w.size(0), OL}, x.options());
  conv1d<<<dim3((OL + 63) / 64, w.size(0), x.size(0)), 64>>>(x.data_ptr<float>(), b.data_ptr<float>(), y.data_ptr<float>(), x.size(1), x.size(2), w.size(0), w.size(2), OL);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return y;
}
"""
lib = load_inline(name="conv1d_const", cpp_sources="torch::Tensor conv1d_forward(torch::Tensor x, torch::Tensor w, torch::Tensor b);", cuda_sources=src, functions=["conv1d_forward"])


class ModelNew(nn.Module):
    def __init__(self, i, o, k):
        super().__init__()
        self.conv = nn.Conv1d(i, o, k)

    def forward(self, x):
        return lib.conv1d_forward(x, self.conv.weight, self.conv.bias)
