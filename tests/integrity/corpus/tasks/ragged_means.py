"""Means of rows of unequal lengths."""

# /// kengine
# name = "ragged_means"
# category = "reduction"
#
# [[cases]]
# rows = 6
# width = 40
# draws = 2
#
# [[cases]]
# rows = 4
# width = 33
# ///

import torch


def make_inputs(seed, device, rows=6, width=40):
    draw = torch.Generator(device).manual_seed(seed)
    x = torch.randn(rows, width, generator=draw, device=device)
    return x, torch.randint(1, width + 1, (rows,), generator=draw, device=device)


def reference(x, lengths):
    inside = torch.arange(x.shape[1], device=x.device)[None] < lengths[:, None]
    return (x * inside).sum(dim=1) / lengths
