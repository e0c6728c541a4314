"""Running sums along the rows, in numpy."""

# /// kengine
# name = "np_prefix_sum"
# category = "scan"
#
# [[cases]]
# M = 3
# N = 256
# draws = 2
#
# [[cases]]
# M = 2
# N = 400
# ///

import numpy as np


def make_inputs(seed, device, M=3, N=256):
    return (np.random.default_rng(seed).standard_normal((M, N)).astype(np.float32),)


def reference(x):
    return np.cumsum(x, axis=1)
