"""The sum of two matrices whose last tile is not cut: it reads rows that are not there. Expected: launch_failed."""

# /// kengine
# [[cases]]
# rows = 300
# columns = 64
#
# [[cases]]
# rows = 128
# columns = 513
# ///

import numpy as np

import nki
import nki.isa as nisa
import nki.language as nl


def make_inputs(seed, device, rows=300, columns=64):
    draw = np.random.default_rng(seed)
    return tuple(draw.standard_normal((rows, columns)).astype(np.float32) for _ in range(2))


def reference(x, y):
    return x + y


@nki.jit
def add(x, y):
    rows, columns = x.shape
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for start in range(0, rows, nl.tile_size.pmax):
        stop = start + nl.tile_size.pmax
        left = nl.ndarray((stop - start, columns), dtype=x.dtype, buffer=nl.sbuf)
        right = nl.ndarray((stop - start, columns), dtype=y.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=left, src=x[start:stop, :])
        nisa.dma_copy(dst=right, src=y[start:stop, :])
        nisa.tensor_tensor(dst=left, data1=left, data2=right, op=nl.add)
        nisa.dma_copy(dst=out[start:stop, :], src=left)
    return out
