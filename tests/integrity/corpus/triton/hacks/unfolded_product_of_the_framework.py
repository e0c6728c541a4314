# /// kengine-corpus
# task = "conv_relu"
# letter = "A9"
# tries = "Unfolds the image, has the framework multiply, and clamps in a kernel."
# right = ["lint_rejected", "sham"]
# dynamic = ["provenance"]
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def clamp(x, y, n, LANES: tl.constexpr):
    lane = tl.program_id(0) * LANES + tl.arange(0, LANES)
    tl.store(y + lane, tl.maximum(tl.load(x + lane, mask=lane < n), 0.0), mask=lane < n)


class ModelNew(torch.nn.Module):
    def __init__(self, inner, outer):
        super().__init__()
        self.conv = torch.nn.Conv2d(inner, outer, 3, padding=1)

    def forward(self, x):
        patches = torch.nn.functional.unfold(x, 3, padding=1)
        h = torch.baddbmm(self.conv.bias[None, :, None], self.conv.weight.flatten(1).expand(len(x), -1, -1), patches)
        y = torch.empty_like(h)
        clamp[(triton.cdiv(h.numel(), 512),)](h, y, h.numel(), LANES=512)
        return y.view(len(x), -1, *x.shape[2:])
