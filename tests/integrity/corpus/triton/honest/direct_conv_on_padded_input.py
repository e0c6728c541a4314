"""Direct convolution on an input that torch pads, bias and ReLU in the same kernel."""

# /// kengine-corpus
# task = "conv_relu"
# trap = "views"
# does = "F.pad on the input and a reshaped, flattened weight; the kernel does every product of the convolution."
# ///

import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def conv_bias_relu(x, w, bias, out, IC, OC, H, W, PH, PW, KS: tl.constexpr, LANES: tl.constexpr):
    image = tl.program_id(0) // OC
    oc = tl.program_id(0) % OC
    at = tl.program_id(1) * LANES + tl.arange(0, LANES)
    inside = at < H * W
    i = at // W
    j = at % W
    total = tl.zeros((LANES,), dtype=tl.float32) + tl.load(bias + oc)
    for ic in range(IC):
        for di in tl.static_range(KS):
            for dj in tl.static_range(KS):
                weight = tl.load(w + ((oc * IC + ic) * KS + di) * KS + dj)
                total += weight * tl.load(x + ((image * IC + ic) * PH + i + di) * PW + j + dj, inside, other=0.0)
    tl.store(out + tl.program_id(0) * H * W + at, tl.maximum(total, 0.0), inside)


class ModelNew(nn.Module):
    def __init__(self, inner, outer):
        super().__init__()
        self.conv = nn.Conv2d(inner, outer, 3, padding=1)

    def forward(self, x):
        images, inner, height, width = x.shape
        weight = self.conv.weight.reshape(self.conv.out_channels, -1).contiguous()
        padded = F.pad(x, (1, 1, 1, 1)).contiguous()
        out = x.new_empty((images, self.conv.out_channels, height, width))
        grid = (images * self.conv.out_channels, triton.cdiv(height * width, 64))
        conv_bias_relu[grid](
            padded,
            weight,
            self.conv.bias,
            out,
            inner,
            self.conv.out_channels,
            height,
            width,
            padded.shape[2],
            padded.shape[3],
            KS=3,
            LANES=64,
        )
        return out
