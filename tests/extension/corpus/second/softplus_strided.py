import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cuda_src = r"""
#include <torch/extension.h>

struct Strides { int64_t size[4]; int64_t stride[4]; int ndim; };

__device__ int64_t offset_of(int64_t linear, const Strides& s) {
  int64_t off = 0;
  for (int d = s.ndim - 1; d >= 0; --d) {
    off += (linear % s.size[d]) * s.stride[d];
    linear /= s.size[d];
  }
  return off;
}

__global__ void softplus_any(const float* x, float* y, int64_t n, Strides in, float beta, float threshold) {
  int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (i < n) {
    float v = x[offset_of(i, in)];
    float z = v * beta;
    y[i] = z > threshold ? v : log1pf(expf(z)) / beta;
  }
}

torch::Tensor softplus(torch::Tensor x, double beta = 1.0, double threshold = 20.0) {
  TORCH_CHECK(x.dim() <= 4, "at most 4 dimensions, got ", x.dim());
  Strides s{};
  s.ndim = x.dim();
  for (int i = 0; i < x.dim(); ++i) { s.size[i] = x.size(i); s.stride[i] = x.strides()[i]; }
  auto y = torch::empty(x.sizes(), torch::TensorOptions().dtype(x.dtype()).device(x.device()));
  int64_t n = y.numel();
  softplus_any<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), n, s, static_cast<float>(beta), static_cast<float>(threshold));
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("softplus", &softplus, py::arg("x"), py::arg("beta") = 1.0, py::arg("threshold") = 20.0);
}
"""
module = load_inline(name="softplus_strided", cpp_sources=[], cuda_sources=[cuda_src])


class ModelNew(nn.Module):
    def forward(self, x):
        return module.softplus(x.transpose(0, 1), beta=2.0).transpose(0, 1)
