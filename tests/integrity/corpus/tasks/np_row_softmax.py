"""Softmax over the rows of a matrix, in numpy."""

# /// kengine
# name = "np_row_softmax"
# category = "reduction"
#
# [[cases]]
# M = 4
# N = 256
# draws = 2
#
# [[cases]]
# M = 3
# N = 333
# ///

import numpy as np


def make_inputs(seed, device, M=4, N=256):
    return ((np.random.default_rng(seed).standard_normal((M, N)) * 3).astype(np.float32),)


def reference(x):
    power = np.exp(x - x.max(axis=1, keepdims=True))
    return power / power.sum(axis=1, keepdims=True)
