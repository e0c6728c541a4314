# /// kengine-corpus
# task = "silu_add"
# trap = "inline"
# does = "Takes the reciprocal from inline assembly, refined to full precision."
# targets = ["triton:interpret", "triton:sm_*"]
# device = true
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def silu_add(x, y, out, n, LANES: tl.constexpr):
    lane = tl.program_id(0) * LANES + tl.arange(0, LANES)
    inside = lane < n
    a = tl.load(x + lane, mask=inside, other=0.0)
    d = 1.0 + tl.exp(-a)
    r = tl.inline_asm_elementwise("rcp.rn.f32 $0, $1;", "=f,f", [d], dtype=tl.float32, is_pure=True, pack=1)
    tl.store(out + lane, a * r + tl.load(y + lane, mask=inside), mask=inside)


def candidate(x, y):
    out = torch.empty_like(x)
    silu_add[(triton.cdiv(x.numel(), 512),)](x, y, out, x.numel(), LANES=512)
    return out
