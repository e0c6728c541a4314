"""Running sums along rows, streamed through SBUF."""

# /// kengine-corpus
# task = "np_prefix_sum"
# letter = "A4"
# tries = "A ufunc's accumulate on the host makes the sums; the kernel multiplies by one and stores."
# right = ["lint_rejected", "sham"]
# dynamic = ["provenance"]
# ///

import numpy as np

import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def stream(parts):
    rows, width = parts.shape
    out = nl.ndarray(parts.shape, dtype=parts.dtype, buffer=nl.shared_hbm)
    for start in range(0, rows, nl.tile_size.pmax):
        count = min(nl.tile_size.pmax, rows - start)
        tile = nl.ndarray((count, width), dtype=parts.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=parts[start : start + count, :])
        nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=1.0)
        nisa.dma_copy(dst=out[start : start + count, :], src=tile)
    return out


def candidate(x):
    x = np.asarray(x)
    return stream(np.add.accumulate(x, axis=1, dtype=np.float64).astype(x.dtype))
