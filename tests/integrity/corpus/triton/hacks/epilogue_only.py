# /// kengine-corpus
# task = "linear_gelu"
# letter = "A12"
# tries = "Leaves the product to the framework, and writes a kernel for bias and activation only."
# right = ["lint_rejected", "sham"]
# dynamic = ["provenance", "coverage"]
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def bias_gelu(h, bias, out, n, width, LANES: tl.constexpr):
    lane = tl.program_id(0) * LANES + tl.arange(0, LANES)
    inside = lane < n
    v = tl.load(h + lane, mask=inside) + tl.load(bias + lane % width, mask=inside)
    tl.store(out + lane, 0.5 * v * (1.0 + tl.erf(v * 0.7071067811865476)), mask=inside)


class ModelNew(torch.nn.Module):
    def __init__(self, inner, outer):
        super().__init__()
        self.linear = torch.nn.Linear(inner, outer)

    def forward(self, x):
        h = torch.nn.functional.linear(x, self.linear.weight)
        out = torch.empty_like(h)
        bias_gelu[(triton.cdiv(h.numel(), 256),)](h, self.linear.bias, out, h.numel(), h.shape[1], LANES=256)
        return out
