"""The task of this folder: softmax over rows."""

# /// kengine
# name = "softmax"
# category = "normalization"
# level = 1
# license = "Apache-2.0"
#
# [[cases]]
# M = 4
# N = 128
#
# [[cases]]
# M = 3
# N = 77
#
# [[cases]]
# M = 2
# N = 1000
# values = ["drawn", "large"]
# ///

import torch


def make_inputs(seed, device, M=4, N=128):
    draw = torch.Generator(device).manual_seed(seed)
    return (torch.randn(M, N, generator=draw, device=device),)


def reference(x):
    return torch.softmax(x, dim=-1)
