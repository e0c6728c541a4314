"""RMSNorm over rows in Pallas. Passes.

    kengine verify --backend pallas --task task.py rmsnorm.py
"""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

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
