"""Rows of a matrix, most of them with the rows of another one added, which an index places."""

# /// kengine
# name = "added_at_rows"
# category = "scatter"
#
# [[cases]]
# M = 40
# N = 64
# draws = 2
#
# [[cases]]
# M = 21
# N = 130
# ///

import torch


def make_inputs(seed, device, M=40, N=64):
    draw = torch.Generator(device).manual_seed(seed)
    rows = torch.randn(M, N, generator=draw, device=device)
    more = torch.randn(2 * M, N, generator=draw, device=device)
    return rows, more, torch.randint(0, M, (2 * M,), generator=draw, device=device)


def reference(rows, more, places):
    return rows.index_add(0, places, more)
