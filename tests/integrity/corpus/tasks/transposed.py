"""The transposed matrix, of inputs that lie in memory in several ways."""

# /// kengine
# name = "transposed"
# category = "memory"
#
# [[cases]]
# M = 48
#
# [[cases]]
# M = 48
# layout = "strided"
#
# [[cases]]
# M = 40
# layout = "offset"
# ///

import torch


def make_inputs(seed, device, M=48, N=80):
    draw = torch.Generator(device).manual_seed(seed)
    return (torch.randn(M, N, generator=draw, device=device),)


def reference(x):
    return x.t().contiguous()
