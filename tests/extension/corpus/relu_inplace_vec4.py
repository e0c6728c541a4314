import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

source = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

__global__ void relu_vec4(float4* x, int n4, float* tail, int rest) {
  int stride = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n4; i += stride) {
    float4 v = x[i];
    v.x = fmaxf(v.x, 0.f); v.y = fmaxf(v.y, 0.f); v.z = fmaxf(v.z, 0.f); v.w = fmaxf(v.w, 0.f);
    x[i] = v;
  }
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t < rest) tail[t] = fmaxf(tail[t], 0.f);
}

at::Tensor& relu_inplace(at::Tensor& x) {
  TORCH_CHECK(x.is_cuda() && x.scalar_type() == at::kFloat, "expected a float CUDA tensor");
  auto stream = at::cuda::getCurrentCUDAStream();
  int64_t n = x.numel();
  float* p = x.data_ptr<float>();
  dim3 grid(std::min<int64_t>((n / 4 + 255) / 256 + 1, 1024));
  relu_vec4<<<grid, 256, 0, stream.stream()>>>(reinterpret_cast<float4*>(p), n / 4, p + n / 4 * 4, n % 4);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return x;
}

at::Tensor forward(const at::Tensor& x) {
  at::Tensor y = x.clone();
  return relu_inplace(y);
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.doc() = "relu in place";
  m.def("forward", &forward, "ReLU forward (CUDA)", py::arg("x"));
}
"""

ext = load_inline(name="relu_inplace", cpp_sources="", cuda_sources=source, extra_cuda_cflags=["-O3"])


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return ext.forward(x=x)
