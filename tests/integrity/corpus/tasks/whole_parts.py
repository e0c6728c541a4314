"""The whole part of every number."""

# /// kengine
# name = "whole_parts"
# category = "elementwise"
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
    return (torch.randn(M, N, generator=draw, device=device) * 3,)


def reference(x):
    return torch.trunc(x)
