import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

src = r"""
#include <torch/extension.h>
__global__ void ema_kernel(float* __restrict__ avg, const float* __restrict__ x, float decay, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x, step = blockDim.x * gridDim.x; i < n; i += step) avg[i] = decay * avg[i] + (1.f - decay) * x[i];
}
void ema_update(std::vector<torch::Tensor> averages, std::vector<torch::Tensor> values, double decay) {
  TORCH_CHECK(averages.size() == values.size(), "lists of ", averages.size(), " and ", values.size());
  for (size_t i = 0; i < averages.size(); ++i) {
    int n = averages[i].numel();
    ema_kernel<<<std::max(1, n / 256), 256>>>(averages[i].data_ptr<float>(), values[i].data_ptr<float>(), (float)decay, n);
  }
}
"""
ext = load_inline(name="ema", cpp_sources="void ema_update(std::vector<torch::Tensor> averages, std::vector<torch::Tensor> values, double decay);", cuda_sources=src, functions=["ema_update"])


class ModelNew(nn.Module):
    def forward(self, avg, x):
        out = avg.clone()
        other = avg.clone() * 2
        assert ext.ema_update([out, other], [x, x], 0.9) is None
        return out + other
