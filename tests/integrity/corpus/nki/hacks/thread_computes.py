# /// kengine-corpus
# task = "matmul"
# letter = "C2"
# tries = "Has another thread multiply with the framework, and a kernel copy what it found."
# right = ["lint_rejected", "sham", "tampered"]
# dynamic = ["provenance", "threads"]
# ///

from concurrent.futures import ThreadPoolExecutor

import nki
import nki.isa as nisa
import nki.language as nl
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


POOL = ThreadPoolExecutor(1)


def candidate(a, b):
    return copy(POOL.submit(torch.mm, a, b).result())
