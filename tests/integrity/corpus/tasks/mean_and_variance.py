"""Mean and variance of each row."""

# /// kengine
# name = "mean_and_variance"
# category = "reduction"
#
# [[cases]]
# M = 5
# N = 100
# draws = 2
#
# [[cases]]
# M = 8
# N = 512
# ///

import torch


def make_inputs(seed, device, M=5, N=100):
    draw = torch.Generator(device).manual_seed(seed)
    return (torch.randn(M, N, generator=draw, device=device) + 0.5,)


def reference(x):
    mean = x.mean(dim=1)
    return mean, ((x - mean[:, None]) ** 2).mean(dim=1)
