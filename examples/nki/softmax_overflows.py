"""A softmax that leaves the maximum in: right on ordinary values, NaN on large ones. Expected: wrong_result."""

# /// kengine
# [[cases]]
# rows = 200
# columns = 77
#
# [[cases]]
# rows = 5
# columns = 64
# values = "large"
# ///

import numpy as np

import nki
import nki.isa as nisa
import nki.language as nl


def make_inputs(seed, device, rows=200, columns=77):
    return (np.random.default_rng(seed).standard_normal((rows, columns)).astype(np.float32),)


def reference(x):
    power = np.exp(x - x.max(axis=1, keepdims=True))
    return power / power.sum(axis=1, keepdims=True)


@nki.jit
def softmax(x):
    rows, columns = x.shape
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for start in range(0, rows, nl.tile_size.pmax):
        count = min(nl.tile_size.pmax, rows - start)
        tile = nl.ndarray((count, columns), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[start : start + count, :])
        power = nl.ndarray((count, columns), dtype=nl.float32, buffer=nl.sbuf)
        total = nl.ndarray((count, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.activation_reduce(dst=power, op=nl.exp, data=tile, reduce_op=nl.add, reduce_res=total)
        nisa.reciprocal(dst=total, data=total)
        nisa.tensor_scalar(dst=tile, data=power, op0=nl.multiply, operand0=total)
        nisa.dma_copy(dst=out[start : start + count, :], src=tile)
    return out
