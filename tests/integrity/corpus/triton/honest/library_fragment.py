# /// kengine-corpus
# task = "silu_add"
# trap = "operators"
# does = "Defines an operator in a library whose implementation launches."
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def silu_add(x, y, out, n, LANES: tl.constexpr):
    lane = tl.program_id(0) * LANES + tl.arange(0, LANES)
    inside = lane < n
    a = tl.load(x + lane, mask=inside)
    b = tl.load(y + lane, mask=inside)
    tl.store(out + lane, a * tl.sigmoid(a) + b, mask=inside)


LIBRARY = torch.library.Library("activations", "DEF")
LIBRARY.define("silu_add(Tensor x, Tensor y) -> Tensor")


def implementation(x, y):
    out = torch.empty_like(x)
    silu_add[(triton.cdiv(x.numel(), 1024),)](x, y, out, x.numel(), LANES=1024)
    return out


LIBRARY.impl("silu_add", implementation, "CompositeExplicitAutograd")


def candidate(x, y):
    return torch.ops.activations.silu_add(x, y)
