# /// kengine-corpus
# task = "row_softmax"
# letter = "I3"
# tries = "Computes while the kernel's body runs as Python, keeps that aside, and returns it instead of what the kernel wrote."
# right = ["lint_rejected", "sham"]
# dynamic = ["provenance", "launches raise", "launches do nothing"]
# ///

import nki
import nki.isa as nisa
import nki.language as nl
import torch


INPUT, RESULT = [], []


@nki.jit
def softmax(x):
    rows, columns = x.shape
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    nisa.dma_copy(dst=out, src=tile)
    RESULT[:] = [torch.softmax(INPUT[0], -1)]
    return out


def candidate(x):
    INPUT[:] = [x]
    softmax(x)
    return RESULT.pop()
