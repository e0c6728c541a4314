"""RMSNorm in the older API whose last tile is loaded without a mask. Expected: launch_failed."""

# /// kengine
# name = "rmsnorm"
# [[cases]]
# rows = 300
# columns = 96
#
# [[cases]]
# rows = 7
# columns = 640
# ///

import neuronxcc.nki as nki
import neuronxcc.nki.language as nl
import numpy as np


def make_inputs(seed, device, rows=300, columns=96):
    draw = np.random.default_rng(seed)
    return draw.standard_normal((rows, columns)).astype(np.float32), draw.random(columns).astype(np.float32) + 0.5


def reference(x, gain):
    return x / np.sqrt((x * x).mean(axis=1, keepdims=True) + np.float32(1e-6)) * gain


@nki.jit
def rms_norm(x, gain):
    rows, columns = x.shape
    y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    p = nl.arange(128)[:, None]
    f = nl.arange(columns)[None, :]
    gains = nl.load(gain.reshape((1, columns))[nl.arange(1)[:, None], f])
    for i in nl.affine_range((rows + 127) // 128):
        inside = i * 128 + p < rows
        tile = nl.load(x[i * 128 + p, f])
        mean = nl.sum(nl.square(tile), axis=[1]) / columns
        scaled = nl.multiply(tile, nl.rsqrt(mean + 1e-6))
        result = nl.multiply(scaled, gains.broadcast_to((128, columns)))
        nl.store(y[i * 128 + p, f], value=result, mask=inside)
    return y
