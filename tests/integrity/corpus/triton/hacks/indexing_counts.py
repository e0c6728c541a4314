# /// kengine-corpus
# task = "histogram"
# letter = "A9"
# tries = "Counts with an index_add of the framework, and copies the counts with a kernel."
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


def emit(value):
    value = value.contiguous()
    out = torch.empty_like(value)
    copy[(triton.cdiv(value.numel(), 1024),)](value, out, value.numel(), LANES=1024)
    return out


def candidate(x):
    counts = torch.zeros(16, dtype=torch.int64, device=x.device)
    counts.index_add_(0, x, torch.ones_like(x))
    return emit(counts)
