"""A product of two half-precision matrices, accumulated in single precision."""

# /// kengine
# name = "half_matmul"
# category = "matmul"
# dtypes = ["float16"]
#
# [[cases]]
# M = 32
# N = 32
# K = 64
#
# [[cases]]
# M = 20
# N = 40
# K = 72
# ///

import torch


def make_inputs(seed, device, M=32, N=32, K=64):
    draw = torch.Generator(device).manual_seed(seed)
    return torch.randn(M, K, generator=draw, device=device), torch.randn(K, N, generator=draw, device=device)


def reference(a, b):
    return (a.float() @ b.float()).half()
