"""Rotary embedding of queries and keys: halves of each vector turned by an angle of its place."""

# /// kengine
# name = "turned_in_pairs"
# category = "elementwise"
#
# [[cases]]
# B = 2
# S = 9
# H = 3
# D = 16
# draws = 2
#
# [[cases]]
# B = 1
# S = 20
# H = 2
# D = 32
# ///

import torch


def make_inputs(seed, device, B=2, S=9, H=3, D=16):
    draw = torch.Generator(device).manual_seed(seed)
    angle = 6.28 * torch.rand(S, D // 2, generator=draw, device=device)
    q = torch.randn(B, S, H, D, generator=draw, device=device)
    k = torch.randn(B, S, H, D, generator=draw, device=device)
    return q, k, angle.cos(), angle.sin()


def reference(q, k, cos, sin):
    def turn(x):
        a, b = x.chunk(2, -1)
        c, s = cos[None, :, None, :], sin[None, :, None, :]
        return torch.cat([a * c - b * s, b * c + a * s], -1)

    return turn(q), turn(k)
