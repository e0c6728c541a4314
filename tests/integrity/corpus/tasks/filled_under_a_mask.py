"""Numbers above zero, and minus one elsewhere."""

# /// kengine
# name = "filled_under_a_mask"
# category = "elementwise"
#
# [[cases]]
# M = 16
# N = 40
#
# [[cases]]
# M = 9
# N = 64
# ///

import torch


def make_inputs(seed, device, M=16, N=40):
    draw = torch.Generator(device).manual_seed(seed)
    return (torch.randn(M, N, generator=draw, device=device) * 3,)


def reference(x):
    return x.masked_fill(x < 0, -1.0)
