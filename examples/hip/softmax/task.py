"""Softmax over rows."""

# /// kengine
# name = "softmax"
# category = "softmax"
# level = 1
# license = "Apache-2.0"
#
# [[cases]]
# M = 4
# N = 256
#
# [[cases]]
# M = 3
# N = 501
#
# [[cases]]
# M = 2
# N = 33
# ///

import torch


def make_inputs(seed, device, M=4, N=256):
    draw = torch.Generator(device).manual_seed(seed)
    return (3 * torch.randn(M, N, generator=draw, device=device),)


def reference(x):
    return torch.softmax(x, dim=-1)
