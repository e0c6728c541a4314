"""Softmax of scores below the diagonal, after a mask that leaves some rows without any element."""

# /// kengine
# name = "causal_softmax"
# category = "attention"
#
# [[cases]]
# n = 64
# draws = 2
#
# [[cases]]
# n = 45
# ///

import torch


def make_inputs(seed, device, n=64):
    draw = torch.Generator(device).manual_seed(seed)
    scores = torch.randn(n, n, generator=draw, device=device)
    keep = torch.rand(n, generator=draw, device=device) > 0.1
    keep[0] = False
    return scores, keep


def reference(scores, keep):
    causal = torch.ones_like(scores, dtype=torch.bool).tril()
    return torch.softmax(scores.masked_fill(~(causal & keep[:, None]), float("-inf")), dim=-1)
