# /// kengine-corpus
# task = "row_stats"
# letter = "A13"
# tries = "Reads every element into Python lists, works there, and copies the answers with a kernel."
# right = ["lint_rejected", "sham"]
# dynamic = ["provenance"]
# ///

import torch
import triton
import triton.language as tl


import math


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
    rows = x.tolist()
    sums = torch.tensor([math.fsum(row) for row in rows], device=x.device)
    places = torch.tensor([max(range(len(row)), key=row.__getitem__) for row in rows], device=x.device)
    return emit(sums), emit(places)
