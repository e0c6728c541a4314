import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

src = r"""
#include <torch/extension.h>
struct AdamParams { float lr, beta1, beta2, eps, c1, c2; };
template <typename T>
__global__ void adam(T* p, const T* g, T* m, T* v, AdamParams h, int64_t n) {
  const int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
  if (i >= n) return;
  const T gi = g[i];
  const T mi = m[i] = h.beta1 * m[i] + (1 - h.beta1) * gi;
  const T vi = v[i] = h.beta2 * v[i] + (1 - h.beta2) * gi * gi;
  p[i] -= h.lr * (mi / h.c1) / (sqrt(vi / h.c2) + h.eps);
}
void step(torch::Tensor p, torch::Tensor g, torch::Tensor m, torch::Tensor v, float lr, float beta1, float beta2, float eps, int64_t t) {
  AdamParams h{lr, beta1, beta2, eps, 1.f - std::pow(beta1, (float)t), 1.f - std::pow(beta2, (float)t)};
  adam<float><<<(p.numel() + 255) / 256, 256, 0, at::cuda::getCurrentCUDAStream()>>>(p.data_ptr<float>(), g.data_ptr<float>(), m.data_ptr<float>(), v.data_ptr<float>(), h, p.numel());
}
"""
ext = load_inline(name="adam_step", cpp_sources="void step(torch::Tensor p, torch::Tensor g, torch::Tensor m, torch::Tensor v, float lr, float beta1, float beta2, float eps, int64_t t);", cuda_sources="#include <ATen/cuda/CUDAContext.h>\n" + src, functions=["step"])


class ModelNew(nn.Module):
    def forward(self, p, g):
        p = p.clone()
        m, v = torch.zeros_like(p), torch.zeros_like(p)
        for t in (1, 2):
            ext.step(p, g, m, v, 0.01, 0.9, 0.999, 1e-8, t)
        return p
