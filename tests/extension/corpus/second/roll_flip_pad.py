import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

src = r"""
#include <torch/extension.h>
enum class PadMode { Zero = 0, Reflect = 1 };
__constant__ int c_shape[4];
template <PadMode mode>
__global__ void pad_kernel(const float* x, float* y, float value) {
  const int rows = c_shape[0], n = c_shape[1], left = c_shape[2], total = c_shape[3];
  const int r = blockIdx.y;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows || i >= total) return;
  int j = i - left;
  if constexpr (mode == PadMode::Reflect) {
    j = j < 0 ? -j : j;
    j = j >= n ? 2 * (n - 1) - j : j;
    y[r * total + i] = x[r * n + j];
  } else {
    y[r * total + i] = (j >= 0 && j < n) ? x[r * n + j] : value;
  }
}
torch::Tensor pad1d(torch::Tensor x, int left, int right, const std::string& mode, float value) {
  int host[4] = {(int)x.size(0), (int)x.size(1), left, (int)x.size(1) + left + right};
  cudaMemcpyToSymbol(c_shape, host, sizeof(host));
  auto y = torch::empty({host[0], host[3]}, x.options());
  dim3 grid((host[3] + 63) / 64, host[0]);
  if (mode == "reflect") pad_kernel<PadMode::Reflect><<<grid, 64>>>(x.data_ptr<float>(), y.data_ptr<float>(), value);
  else pad_kernel<PadMode::Zero><<<grid, 64>>>(x.data_ptr<float>(), y.data_ptr<float>(), value);
  return y;
}
"""
ext = load_inline(name="padder", cpp_sources="torch::Tensor pad1d(torch::Tensor x, int left, int right, const std::string& mode, float value);", cuda_sources=src, functions=["pad1d"])


class ModelNew(nn.Module):
    def forward(self, x):
        return torch.cat([ext.pad1d(x, 3, 2, "reflect", 0.0), ext.pad1d(x, 3, 2, "constant", 1.5)])
