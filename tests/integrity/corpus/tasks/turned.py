"""A matrix turned, and then joined with another: data is moved and nothing is computed."""

# /// kengine
# name = "turned"
# category = "movement"
#
# [[cases]]
# M = 24
# N = 40
# draws = 2
#
# [[cases]]
# M = 17
# N = 9
# ///

import torch


def make_inputs(seed, device, M=24, N=40):
    draw = torch.Generator(device).manual_seed(seed)
    return torch.randn(M, N, generator=draw, device=device), torch.randn(N, M, generator=draw, device=device)


def reference(x, y):
    return torch.cat([x.t(), y], dim=1)
