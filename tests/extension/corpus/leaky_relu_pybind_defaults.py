import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cpp = r"""
#include <torch/extension.h>

void launch_leaky(const float* x, float* y, float slope, long n, cudaStream_t stream);

static torch::Tensor leaky(torch::Tensor x, double slope, bool check) {
  if (check) {
    TORCH_CHECK(x.is_contiguous() && x.dtype() == torch::kFloat32, "contiguous float32 wanted");
  }
  torch::Tensor y = torch::empty(x.sizes(), x.options());
  launch_leaky(x.data_ptr<float>(), y.data_ptr<float>(), (float)slope, x.numel(), 0);
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("leaky", &leaky, py::arg("x"), py::arg("slope") = 0.01, py::arg("check") = true, "leaky relu");
  m.attr("version") = "1.0";
}
"""
cu = r"""
#include <cuda_runtime.h>

__global__ void k(const float* x, float* y, float slope, long n) {
  long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
  if (i < n) { float v = x[i]; y[i] = v > 0.f ? v : v * slope; }
}
void launch_leaky(const float* x, float* y, float slope, long n, cudaStream_t stream) {
  k<<<dim3((unsigned)((n + 511) / 512)), dim3(512), 0, stream>>>(x, y, slope, n);
}
"""
ext = load_inline("leaky_defaults", cpp_sources="#include <cuda_runtime.h>\n" + cpp, cuda_sources=cu)


class ModelNew(nn.Module):
    def forward(self, x):
        assert ext.version == "1.0"
        return ext.leaky(x, check=False)
