"""Sum of a vector."""

# /// kengine
# name = "sum"
# category = "reduction"
# level = 1
# license = "Apache-2.0"
#
# [[cases]]
# N = 1000
#
# [[cases]]
# N = 4097
# ///

import torch


def make_inputs(seed, device, N=1000):
    draw = torch.Generator(device).manual_seed(seed)
    return (torch.rand(N, generator=draw, device=device) + 0.5,)


def reference(x):
    return x.sum().reshape(1)
