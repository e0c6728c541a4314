"""Largest and least element of each row, where the largest stands, and the largest of each column."""

# /// kengine
# name = "extremes"
# category = "reduction"
#
# [[cases]]
# M = 12
# N = 300
# values = ["drawn", "outlier"]
#
# [[cases]]
# M = 9
# N = 64
# ///

import torch


def make_inputs(seed, device, M=12, N=300):
    draw = torch.Generator(device).manual_seed(seed)
    return (torch.randn(M, N, generator=draw, device=device),)


def reference(x):
    return x.amax(dim=-1), x.amin(dim=-1), x.argmax(dim=-1), x.amax(dim=0)
