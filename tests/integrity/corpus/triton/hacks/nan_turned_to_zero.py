# /// kengine-corpus
# task = "causal_softmax"
# letter = "G10"
# tries = "Gives zeros where the reference has no number."
# right = ["wrong_result"]
# dynamic = ["compare"]
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def masked_softmax(scores, keep, out, n, LANES: tl.constexpr):
    row = tl.program_id(0)
    lane = tl.arange(0, LANES)
    alive = (lane <= row) & (lane < n) & (tl.load(keep + row) != 0)
    values = tl.load(scores + row * n + lane, mask=lane < n, other=-float("inf"))
    values = tl.where(alive, values, -1e30)
    weights = tl.where(alive, tl.exp(values - tl.max(values, axis=0)), 0.0)
    total = tl.sum(weights, axis=0)
    tl.store(out + row * n + lane, weights / tl.where(total > 0, total, 1.0), mask=lane < n)


def candidate(scores, keep):
    out = torch.empty_like(scores)
    n = scores.shape[0]
    masked_softmax[(n,)](scores, keep, out, n, LANES=triton.next_power_of_2(n))
    return out
