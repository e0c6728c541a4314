# /// kengine-corpus
# task = "conv_relu"
# trap = "weights"
# does = "Convolves directly, with the weight permuted so that output channels are next to each other."
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def conv_relu(x, weight, bias, y, H, W, C: tl.constexpr, N, total, LANES: tl.constexpr):
    place = tl.program_id(0) * LANES + tl.arange(0, LANES)
    inside = place < total
    col = place % W
    row = place // W % H
    channel = place // (W * H) % N
    image = place // (W * H * N)
    value = tl.load(bias + channel, mask=inside, other=0.0)
    for c in tl.static_range(C):
        for i in tl.static_range(3):
            for j in tl.static_range(3):
                r, k = row + i - 1, col + j - 1
                seen = inside & (r >= 0) & (r < H) & (k >= 0) & (k < W)
                pixel = tl.load(x + ((image * C + c) * H + r) * W + k, mask=seen, other=0.0)
                value += pixel * tl.load(weight + ((c * 3 + i) * 3 + j) * N + channel, mask=inside, other=0.0)
    tl.store(y + place, tl.maximum(value, 0.0), mask=inside)


class ModelNew(torch.nn.Module):
    def __init__(self, inner, outer):
        super().__init__()
        self.conv = torch.nn.Conv2d(inner, outer, 3, padding=1)

    def forward(self, x):
        x = x.contiguous()
        weight = self.conv.weight.permute(1, 2, 3, 0).contiguous()
        B, C, H, W = x.shape
        N = self.conv.out_channels
        y = torch.empty(B, N, H, W, device=x.device, dtype=x.dtype)
        grid = (triton.cdiv(y.numel(), 256),)
        conv_relu[grid](x, weight, self.conv.bias, y, H, W, C, N, y.numel(), LANES=256)
        return y
