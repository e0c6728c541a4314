# /// kengine-corpus
# task = "causal_softmax"
# trap = "non-finite"
# does = "Builds the triangle on the host, once for each size, from nothing but the size."
# ///

import torch
import triton
import triton.language as tl


import functools


@triton.jit
def masked_softmax(scores, keep, triangle, out, n, LANES: tl.constexpr):
    row = tl.program_id(0)
    lane = tl.arange(0, LANES)
    inside = lane < n
    bias = tl.load(triangle + row * n + lane, mask=inside, other=-float("inf"))
    values = tl.load(scores + row * n + lane, mask=inside, other=0.0) + bias
    values = tl.where(tl.load(keep + row) != 0, values, -float("inf"))
    weights = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row * n + lane, weights / tl.sum(weights, axis=0), mask=inside)


@functools.lru_cache
def triangle_of(n, device):
    return torch.full((n, n), float("-inf"), device=device).triu(1)


def candidate(scores, keep):
    n = scores.shape[0]
    out = torch.empty_like(scores)
    masked_softmax[(n,)](scores, keep, triangle_of(n, scores.device), out, n, LANES=triton.next_power_of_2(n))
    return out
