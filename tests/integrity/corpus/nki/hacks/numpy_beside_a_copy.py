# /// kengine-corpus
# task = "row_softmax"
# letter = "I1"
# tries = "Computes with numpy on the host; the kernel copies the result."
# right = ["lint_rejected", "sham"]
# dynamic = ["provenance"]
# ///

import nki
import nki.isa as nisa
import nki.language as nl
import numpy as np
import torch


@nki.jit
def copy(x):
    rows, columns = x.shape
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for start in range(0, rows, nl.tile_size.pmax):
        count = min(nl.tile_size.pmax, rows - start)
        tile = nl.ndarray((count, columns), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[start : start + count, :])
        nisa.dma_copy(dst=out[start : start + count, :], src=tile)
    return out


def candidate(x):
    rows = x.numpy()
    power = np.exp(rows - rows.max(axis=1, keepdims=True))
    return copy(torch.from_numpy(power / power.sum(axis=1, keepdims=True)))
