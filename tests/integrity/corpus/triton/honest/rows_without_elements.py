# /// kengine-corpus
# task = "causal_softmax"
# trap = "non-finite"
# does = "Gives NaN for rows that the mask leaves empty, as the reference does."
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def masked_softmax(scores, keep, out, n, LANES: tl.constexpr):
    row = tl.program_id(0)
    lane = tl.arange(0, LANES)
    inside = lane < n
    alive = inside & (lane <= row) & (tl.load(keep + row) != 0)
    values = tl.load(scores + row * n + lane, mask=alive, other=-float("inf"))
    weights = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row * n + lane, weights / tl.sum(weights, axis=0), mask=inside)


def candidate(scores, keep):
    n = scores.shape[0]
    out = torch.empty_like(scores)
    masked_softmax[(n,)](scores, keep, out, n, LANES=triton.next_power_of_2(n))
    return out
