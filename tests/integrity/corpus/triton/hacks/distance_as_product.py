# /// kengine-corpus
# task = "matmul"
# letter = "A9"
# tries = "Gets the product out of squared distances that the framework computes."
# right = ["lint_rejected", "sham", "wrong_result"]
# dynamic = ["provenance", "compare"]
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


def candidate(a, b):
    left, right = a.double(), b.t().double()
    squares = torch.cdist(left, right, compute_mode="donot_use_mm_for_euclid_dist") ** 2
    inner = (left.square().sum(1)[:, None] + right.square().sum(1)[None] - squares) / 2
    return emit(inner.float())
