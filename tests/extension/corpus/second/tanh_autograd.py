import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

source = r'''
#include <torch/extension.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

namespace {
template <typename T>
__global__ void tanh_fwd(const T* x, T* y, int64_t n) {
  const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (i < n) y[i] = static_cast<T>(::tanh(static_cast<float>(x[i])));
}
template <typename T>
__global__ void tanh_bwd(const T* gy, const T* y, T* gx, int64_t n) {
  const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (i < n) gx[i] = gy[i] * (T(1) - y[i] * y[i]);
}
}  // namespace

at::Tensor forward(const at::Tensor& x) {
  TORCH_CHECK(x.is_cuda(), "x must be a CUDA tensor, got ", x.device());
  const c10::cuda::OptionalCUDAGuard guard(at::device_of(x));
  auto xc = x.contiguous();
  auto y = at::empty_like(xc);
  const int64_t n = xc.numel();
  if (n == 0) return y;
  AT_DISPATCH_FLOATING_TYPES(xc.scalar_type(), "tanh_fwd", ([&] {
    tanh_fwd<scalar_t><<<(n + 127) / 128, 128, 0, c10::cuda::getCurrentCUDAStream()>>>(
        xc.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), n);
  }));
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return y;
}

at::Tensor backward(const at::Tensor& gy, const at::Tensor& y) {
  auto g = gy.contiguous();
  auto gx = at::empty_like(g);
  const int64_t n = g.numel();
  AT_DISPATCH_FLOATING_TYPES(g.scalar_type(), "tanh_bwd", ([&] {
    tanh_bwd<scalar_t><<<(n + 127) / 128, 128, 0, c10::cuda::getCurrentCUDAStream()>>>(
        g.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), gx.data_ptr<scalar_t>(), n);
  }));
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return gx;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.doc() = "tanh with its gradient";
  m.def("forward", &forward, "forward");
  m.def("backward", &backward, "backward");
}
'''
ext = load_inline(name="tanh_both", cpp_sources="", cuda_sources=source)


class Tanh(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = ext.forward(x)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, gy):
        (y,) = ctx.saved_tensors
        return ext.backward(gy, y)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.detach().clone().requires_grad_(True)
        y = Tanh.apply(x)
        y.sum().backward()
        return y + x.grad
