# /// kengine-corpus
# task = "row_softmax"
# letter = "A12"
# tries = "A kernel finds each row's maximum, exp, sum and division are the framework's."
# right = ["lint_rejected", "sham"]
# dynamic = ["provenance", "launches do nothing"]
# ///

import nki
import nki.isa as nisa
import nki.language as nl
import torch


@nki.jit
def tops(x):
    rows, columns = x.shape
    out = nl.ndarray((rows, 1), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.sbuf)
    top = nl.ndarray((rows, 1), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    nisa.tensor_reduce(dst=top, op=nl.maximum, data=tile, axis=1)
    nisa.dma_copy(dst=out, src=top)
    return out


def candidate(x):
    power = torch.exp(x - tops(x))
    return power / power.sum(-1, keepdim=True)
