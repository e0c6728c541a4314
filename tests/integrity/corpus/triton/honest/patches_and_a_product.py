"""Convolution and ReLU as a product over patches."""

# /// kengine-corpus
# task = "conv_relu"
# trap = "views"
# does = "Lays the patches out with the framework; product, bias and ReLU are the kernel's."
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def multiply(w, cols, bias, y, CO, L, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    image = tl.program_id(2)
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        rk = k + tl.arange(0, BK)
        left = tl.load(w + rm[:, None] * K + rk[None, :], mask=(rm[:, None] < CO) & (rk[None, :] < K), other=0.0)
        place = cols + image * K * L + rk[:, None] * L + rn[None, :]
        right = tl.load(place, mask=(rk[:, None] < K) & (rn[None, :] < L), other=0.0)
        total += tl.dot(left, right, input_precision="ieee")
    total += tl.load(bias + rm, mask=rm < CO, other=0.0)[:, None]
    at = y + image * CO * L + rm[:, None] * L + rn[None, :]
    tl.store(at, tl.maximum(total, 0.0), mask=(rm[:, None] < CO) & (rn[None, :] < L))


class ModelNew(torch.nn.Module):
    def __init__(self, inner, outer):
        super().__init__()
        self.conv = torch.nn.Conv2d(inner, outer, 3, padding=1)

    def forward(self, x):
        images, _, height, width = x.shape
        cols = torch.nn.functional.unfold(x, 3, padding=1).contiguous()
        w = self.conv.weight.view(self.conv.out_channels, -1).contiguous()
        y = torch.empty(images, w.shape[0], height, width, device=x.device, dtype=x.dtype)
        grid = (triton.cdiv(w.shape[0], 16), triton.cdiv(height * width, 32), images)
        multiply[grid](w, cols, self.conv.bias, y, w.shape[0], height * width, w.shape[1], BM=16, BN=32, BK=16)
        return y
