"""Softmax over the rows of a matrix."""

# /// kengine
# name = "row_softmax"
# category = "reduction"
#
# [[cases]]
# M = 4
# N = 256
# draws = 2
#
# [[cases]]
# M = 3
# N = 333
#
# [[cases]]
# M = 3
# N = 200
# values = "large"
# ///

import torch


def make_inputs(seed, device, M=4, N=256):
    draw = torch.Generator(device).manual_seed(seed)
    return (torch.randn(M, N, generator=draw, device=device) * 3,)


def reference(x):
    return torch.softmax(x, dim=-1)
