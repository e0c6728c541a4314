import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

src = r"""
#include <torch/extension.h>
#include <optional>
#include <string>

__global__ void bce_kernel(const float* x, const float* t, const float* w, float* o, int n, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i];
  float l = fmaxf(v, 0.f) - v * t[i] + log1pf(expf(-fabsf(v)));
  o[i] = w ? l * w[i % m] : l;
}

torch::Tensor bce(torch::Tensor logits, torch::Tensor target, c10::optional<torch::Tensor> weight, std::string reduction) {
  auto loss = torch::empty_like(logits);
  const float* w = weight.has_value() ? weight.value().data_ptr<float>() : nullptr;
  int n = logits.numel();
  bce_kernel<<<(n + 127) / 128, 128>>>(logits.data_ptr<float>(), target.data_ptr<float>(), w, loss.data_ptr<float>(), n, logits.size(-1));
  if (reduction == "mean") return loss.mean();
  if (reduction == "sum") return loss.sum();
  TORCH_CHECK(reduction == "none", "unknown reduction ", reduction);
  return loss;
}
"""
b = load_inline(
    name="bce_opt",
    cpp_sources="torch::Tensor bce(torch::Tensor logits, torch::Tensor target, c10::optional<torch::Tensor> weight, std::string reduction);",
    cuda_sources=src,
    functions=["bce"],
)


class ModelNew(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.register_buffer("weight", torch.linspace(0.5, 1.5, dim))

    def forward(self, logits, target):
        return b.bce(logits, target, self.weight, "mean") + b.bce(logits, target, None, "sum")
