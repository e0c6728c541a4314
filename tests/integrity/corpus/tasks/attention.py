"""Causal attention of a few heads."""

# /// kengine
# name = "attention"
# category = "attention"
#
# [[cases]]
# heads = 2
# length = 48
# draws = 2
#
# [[cases]]
# heads = 1
# length = 37
# ///

import torch


def make_inputs(seed, device, heads=2, length=48, width=16):
    draw = torch.Generator(device).manual_seed(seed)
    return tuple(torch.randn(heads, length, width, generator=draw, device=device) for _ in range(3))


def reference(q, k, v):
    scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
    later = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device).triu(1)
    return torch.softmax(scores.masked_fill(later, float("-inf")), dim=-1) @ v
