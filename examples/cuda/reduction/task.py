"""The task of this folder: the sum of each row."""

# /// kengine
# name = "row-sum"
# category = "reduction"
# level = 1
# license = "Apache-2.0"
#
# [[cases]]
# M = 4
# N = 256
#
# [[cases]]
# M = 3
# N = 1000
#
# [[cases]]
# M = 2
# N = 37
# ///

import torch


def make_inputs(seed, device, M=4, N=256):
    draw = torch.Generator(device).manual_seed(seed)
    return (torch.rand(M, N, generator=draw, device=device) + 0.5,)


def reference(x):
    return x.sum(dim=-1)
