# /// kengine-corpus
# task = "norm_module"
# trap = "weights"
# does = "Folds the running statistics into a scale and a shift with the framework, once, and applies them in a kernel."
# ///

import torch
from torch.utils.cpp_extension import load_inline

CPP = "torch::Tensor run(torch::Tensor x, torch::Tensor scale, torch::Tensor shift);"
SOURCE = r"""
#include <torch/extension.h>
#include <hip/hip_runtime.h>

__global__ void affine(const float* x, const float* scale, const float* shift, float* y, int n, int channels) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fmaxf(x[i] * scale[i % channels] + shift[i % channels], 0.0f);
}

torch::Tensor run(torch::Tensor x, torch::Tensor scale, torch::Tensor shift) {
  auto y = torch::empty_like(x);
  int n = x.numel();
  hipLaunchKernelGGL(affine, dim3((n + 255) / 256), dim3(256), 0, 0, x.data_ptr<float>(), scale.data_ptr<float>(),
                     shift.data_ptr<float>(), y.data_ptr<float>(), n, (int)scale.numel());
  return y;
}
"""
EXTENSION = load_inline("run_extension", cpp_sources=CPP, cuda_sources=SOURCE, functions=["run"])


class ModelNew(torch.nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(channels).eval()

    def forward(self, x):
        norm = self.norm
        with torch.no_grad():
            scale = norm.weight * torch.rsqrt(norm.running_var + norm.eps)
            shift = norm.bias - norm.running_mean * scale
        return EXTENSION.run(x.contiguous(), scale.contiguous(), shift.contiguous())
