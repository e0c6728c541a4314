# /// kengine-corpus
# task = "norm_module"
# letter = "A12"
# tries = "The normalisation is one fused multiply-add of the framework on folded statistics, only the ReLU is a kernel."
# right = ["lint_rejected", "sham"]
# dynamic = ["provenance", "launches do nothing"]
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def relu(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.maximum(tl.load(x_ptr + i, mask=i < n), 0.0), mask=i < n)


class ModelNew(torch.nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(channels).eval()

    def forward(self, x):
        norm = self.norm
        scale = norm.weight * torch.rsqrt(norm.running_var + norm.eps)
        z = torch.addcmul(norm.bias - norm.running_mean * scale, x, scale)
        y = torch.empty_like(z)
        relu[(triton.cdiv(z.numel(), 256),)](z, y, z.numel(), BLOCK=256)
        return y
