"""Mean of squared differences, in numpy."""

# /// kengine
# name = "np_mse_loss"
# category = "loss"
#
# [[cases]]
# n = 2000
# draws = 2
#
# [[cases]]
# n = 513
# ///

import numpy as np


def make_inputs(seed, device, n=2000):
    draw = np.random.default_rng(seed)
    return draw.standard_normal(n).astype(np.float32), draw.standard_normal(n).astype(np.float32)


def reference(prediction, target):
    return np.asarray(np.mean((prediction - target) ** 2))
