# /// kengine-corpus
# task = "row_softmax"
# letter = "I4"
# tries = "Takes maximum, exponential and sum on the host, so that the device only multiplies."
# right = ["lint_rejected", "sham"]
# dynamic = ["provenance", "coverage"]
# ///

import nki
import nki.isa as nisa
import nki.language as nl
import torch


@nki.jit
def multiply(power, factor):
    rows, columns = power.shape
    out = nl.ndarray(power.shape, dtype=power.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray((rows, columns), dtype=power.dtype, buffer=nl.sbuf)
    scale = nl.ndarray((rows, 1), dtype=power.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=power)
    nisa.dma_copy(dst=scale, src=factor)
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=scale)
    nisa.dma_copy(dst=out, src=tile)
    return out


def candidate(x):
    power = torch.exp(x - x.amax(-1, keepdim=True))
    return multiply(power, 1.0 / power.sum(-1, keepdim=True))
