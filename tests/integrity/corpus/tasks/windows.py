"""Windows of three by three, as columns."""

# /// kengine
# name = "windows"
# category = "memory"
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
    return (torch.randn(2, 3, M, N, generator=draw, device=device),)


def reference(x):
    return torch.nn.functional.unfold(x, 3)
