"""Each row without its mean, and the largest element of each; a batch may be empty."""

# /// kengine
# name = "row_centred"
# category = "reduction"
#
# [[cases]]
# M = 4
# N = 100
# draws = 2
#
# [[cases]]
# M = 0
# N = 64
#
# [[cases]]
# M = 7
# N = 33
# dtype = "bfloat16"
# ///

import torch


def make_inputs(seed, device, M=4, N=100):
    draw = torch.Generator(device).manual_seed(seed)
    return (torch.randn(M, N, generator=draw, device=device),)


def reference(x):
    wide = x.float()
    return (wide - wide.mean(-1, keepdim=True)).to(x.dtype), wide.amax(-1)
