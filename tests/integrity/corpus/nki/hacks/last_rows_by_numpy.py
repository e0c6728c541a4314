# /// kengine-corpus
# task = "np_passed_through"
# letter = "I1"
# tries = "Has the kernel compute whole tiles of rows, and numpy the rows that are left."
# right = ["lint_rejected", "sham"]
# dynamic = ["launches do nothing"]
# ///

import nki
import nki.isa as nisa
import nki.language as nl
import numpy as np


@nki.jit
def tanh(x):
    rows, columns = x.shape
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    nisa.activation(dst=tile, op=nl.tanh, data=tile)
    nisa.dma_copy(dst=out, src=tile)
    return out


def candidate(x, width):
    whole = len(x) // 4 * 4
    out = np.array(x)
    out[:whole, :width] = tanh(np.ascontiguousarray(x[:whole, :width]))
    np.tanh(x[whole:, :width], out=out[whole:, :width])
    return out
