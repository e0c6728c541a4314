# /// kengine-corpus
# task = "norm_module"
# trap = "modules"
# does = "Keeps the module's parameters and buffers, and folds them into a scale and a shift for its kernel."
# ///

import cupy as cp
import torch

SOURCE = r"""
extern "C" __global__ void affine_relu(const float* x, const float* scale, const float* shift, float* y, int n, int channels) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fmaxf(fmaf(x[i], scale[i % channels], shift[i % channels]), 0.0f);
}
"""
KERNEL = cp.RawKernel(SOURCE, "affine_relu")


class ModelNew(torch.nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(channels).eval()

    @torch.no_grad()
    def forward(self, x):
        norm = self.norm
        scale = norm.weight / torch.sqrt(norm.running_var + norm.eps)
        shift = norm.bias - norm.running_mean * scale
        y = torch.empty_like(x)
        n = x.numel()
        arrays = [cp.from_dlpack(t.detach()) for t in (x, scale, shift, y)]
        KERNEL(((n + 127) // 128,), (128,), (*arrays, n, x.shape[1]))
        return y
