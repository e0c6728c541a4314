"""RMSNorm over rows in Pallas, with its task in the same file. Passes.

    kengine verify --backend pallas rmsnorm.py
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl


def reference(x, weight):
    return x / np.sqrt((x * x).mean(axis=1, keepdims=True) + 1e-6) * weight


def make_inputs(seed, device, rows=48, columns=256):
    draw = np.random.default_rng(seed)
    return draw.standard_normal((rows, columns)).astype(np.float32), draw.random(columns).astype(np.float32)


ROWS = 8


def normalize(x, weight, out):
    values = x[...]
    scale = jax.lax.rsqrt(jnp.mean(values * values, axis=1, keepdims=True) + 1e-6)
    out[...] = values * scale * weight[...]


@jax.jit
def candidate(x, weight):
    rows, columns = x.shape
    return pl.pallas_call(
        normalize,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        grid=(pl.cdiv(rows, ROWS),),
        in_specs=[
            pl.BlockSpec((ROWS, columns), lambda i: (i, 0)),
            pl.BlockSpec((1, columns), lambda i: (0, 0)),
        ],
        out_specs=pl.BlockSpec((ROWS, columns), lambda i: (i, 0)),
    )(x, weight.reshape(1, columns))
