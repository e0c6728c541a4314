"""Matrix product: gathers rows of b, then an epilogue in Triton."""

# /// kengine-corpus
# task = "matmul"
# letter = "A2"
# tries = "Embedding_bag with per-sample weights is a matrix product; the kernel only copies its answer."
# right = ["lint_rejected", "sham"]
# dynamic = ["provenance"]
# ///

import torch
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def write_tiles(bags, out, total, LANES: tl.constexpr):
    lane = tl.program_id(0) * LANES + tl.arange(0, LANES)
    inside = lane < total
    tl.store(out + lane, tl.load(bags + lane, inside), inside)


def candidate(a, b):
    M, K = a.shape
    lookup = torch.arange(K, device=a.device).expand(M, K).contiguous()
    bags = F.embedding_bag(lookup, b.contiguous(), per_sample_weights=a.contiguous(), mode="sum")
    out = torch.empty_like(bags)
    write_tiles[(triton.cdiv(out.numel(), 256),)](bags, out, out.numel(), LANES=256)
    return out
