"""Sum of each row, and where its largest element stands."""

# /// kengine
# name = "row_stats"
# category = "reduction"
#
# [[cases]]
# M = 4
# N = 300
# draws = 2
#
# [[cases]]
# M = 6
# N = 64
# ///

import torch


def make_inputs(seed, device, M=4, N=300):
    draw = torch.Generator(device).manual_seed(seed)
    return (torch.randn(M, N, generator=draw, device=device) - 4.0,)


def reference(x):
    return x.sum(dim=-1), x.argmax(dim=-1)
