# /// kengine-corpus
# task = "attention"
# letter = "A9"
# tries = "Calls the framework's attention and copies the result by a kernel, one head at a time."
# right = ["lint_rejected", "sham"]
# dynamic = ["provenance"]
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def copy(source, target, n, LANES: tl.constexpr):
    lane = tl.program_id(0) * LANES + tl.arange(0, LANES)
    inside = lane < n
    tl.store(target + lane, tl.load(source + lane, mask=inside), mask=inside)


attend = torch.nn.functional.scaled_dot_product_attention


def candidate(q, k, v):
    out = torch.empty_like(q)
    for head in range(q.shape[0]):
        part = attend(q[head : head + 1], k[head : head + 1], v[head : head + 1], is_causal=True).contiguous()
        copy[(triton.cdiv(part.numel(), 512),)](part, out[head], part.numel(), LANES=512)
    return out
