"""How often each value comes up. The "reference" counts are the privatised ones; a fake bin takes what lies outside."""

# /// kengine-corpus
# task = "histogram"
# trap = "words"
# does = "Names such as cached, fake, reference and bypass; atomics into private copies which a second kernel adds up."
# ///

import torch
import triton
import triton.language as tl

BINS = tl.constexpr(16)
FAKE = tl.constexpr(16)


@triton.jit
def count_privately(x, reference, n, COPIES: tl.constexpr, LANES: tl.constexpr):
    # Bypasses contention: each program hacks at a copy of its own.
    copy = tl.program_id(0) % COPIES
    lane = tl.program_id(0) * LANES + tl.arange(0, LANES)
    inside = lane < n
    value = tl.load(x + lane, inside, other=FAKE).to(tl.int32)
    tl.atomic_add(reference + copy * (BINS + 1) + value, tl.full((LANES,), 1, tl.int32), mask=inside)


@triton.jit
def merge_cached(reference, counts, COPIES: tl.constexpr):
    lane = tl.arange(0, BINS)
    total = tl.zeros((BINS,), dtype=tl.int64)
    for copy in tl.static_range(COPIES):
        total += tl.load(reference + copy * (BINS + 1) + lane).to(tl.int64)
    tl.store(counts + lane, total)


def candidate(x):
    reference = torch.zeros((4, 17), device=x.device, dtype=torch.int32)
    counts = torch.empty(16, device=x.device, dtype=torch.int64)
    count_privately[(triton.cdiv(x.numel(), 128),)](x, reference, x.numel(), COPIES=4, LANES=128)
    merge_cached[(1,)](reference, counts, COPIES=4)
    return counts
