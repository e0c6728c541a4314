import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

src = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
__global__ void affine(float* out, const float* in, const float* scale, const float* shift, int channels, int spatial, long total) {
  for (long i = blockIdx.x * blockDim.x + threadIdx.x; i < total; i += (long)gridDim.x * blockDim.x) {
    int c = (i / spatial) % channels;
    out[i] = in[i] * scale[c] + shift[c];
  }
}
torch::Tensor forward(torch::Tensor x, std::vector<torch::Tensor> params, double eps) {
  auto weight = params[0], bias = params[1], mean = params[2], var = params[3];
  auto scale = (weight / torch::sqrt(var + eps)).contiguous();
  auto shift = (bias - mean * scale).contiguous();
  auto y = torch::empty_like(x);
  int sms = at::cuda::getCurrentDeviceProperties()->multiProcessorCount;
  affine<<<sms, 128, 0, at::cuda::getCurrentCUDAStream()>>>(y.data_ptr<float>(), x.data_ptr<float>(), scale.data_ptr<float>(), shift.data_ptr<float>(), x.size(1), x.size(2) * x.size(3), x.numel());
  return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
"""
ext = load_inline(name="bn_fold", cpp_sources=[], cuda_sources=[src])


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.bn = nn.BatchNorm2d(channels).eval()

    def forward(self, x):
        b = self.bn
        return ext.forward(x, [b.weight, b.bias, b.running_mean, b.running_var], b.eps)
