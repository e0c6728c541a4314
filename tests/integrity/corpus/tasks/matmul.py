"""A product of two matrices."""

# /// kengine
# name = "matmul"
# category = "matmul"
#
# [[cases]]
# M = 32
# N = 48
# K = 64
# draws = 2
#
# [[cases]]
# M = 33
# N = 17
# K = 50
#
# [[cases]]
# M = 32
# N = 32
# K = 96
# values = "outlier"
# ///

import torch


def make_inputs(seed, device, M=32, N=48, K=64):
    draw = torch.Generator(device).manual_seed(seed)
    return torch.randn(M, K, generator=draw, device=device), torch.randn(K, N, generator=draw, device=device)


def reference(a, b):
    return a @ b
