"""Running sum along the rows."""

# /// kengine
# name = "prefix_sum"
# category = "scan"
#
# [[cases]]
# M = 3
# N = 256
# draws = 2
#
# [[cases]]
# M = 2
# N = 400
# ///

import torch


def make_inputs(seed, device, M=3, N=256):
    draw = torch.Generator(device).manual_seed(seed)
    return (torch.randn(M, N, generator=draw, device=device),)


def reference(x):
    return torch.cumsum(x, dim=-1)
