"""The exact GELU of every number, in halves."""

# /// kengine
# name = "gelu_of_halves"
# category = "elementwise"
# dtypes = ["float16"]
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
    return (torch.randn(M, N, generator=draw, device=device),)


def reference(x):
    return torch.nn.functional.gelu(x)
