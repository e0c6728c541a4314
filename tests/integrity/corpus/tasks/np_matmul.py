"""A product of two matrices, in numpy."""

# /// kengine
# name = "np_matmul"
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
# ///

import numpy as np


def make_inputs(seed, device, M=32, N=48, K=64):
    draw = np.random.default_rng(seed)
    return draw.standard_normal((M, K)).astype(np.float32), draw.standard_normal((K, N)).astype(np.float32)


def reference(a, b):
    return a @ b
