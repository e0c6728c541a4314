"""Rows of a table, by their numbers."""

# /// kengine
# name = "rows_of_a_table"
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
    return torch.randint(0, N, (M * 8,), generator=draw, device=device), torch.randn(
        N, 32, generator=draw, device=device
    )


def reference(i, w):
    return torch.nn.functional.embedding(i, w)
