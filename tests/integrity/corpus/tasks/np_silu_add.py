"""x * sigmoid(x) + y, in numpy."""

# /// kengine
# name = "np_silu_add"
# category = "elementwise"
#
# [[cases]]
# n = 1000
# draws = 2
#
# [[cases]]
# n = 777
# ///

import numpy as np


def make_inputs(seed, device, n=1000):
    draw = np.random.default_rng(seed)
    return draw.standard_normal(n).astype(np.float32) * 2, draw.standard_normal(n).astype(np.float32)


def reference(x, y):
    return x / (1 + np.exp(-x)) + y
