# /// kengine-corpus
# task = "axpy_in_place"
# trap = "destination"
# does = "Stores what the kernel computed into the tensor that it was given, and returns that."
# ///

import nki
import nki.isa as nisa
import nki.language as nl
import torch


@nki.jit
def axpy(x, y, alpha):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    left = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    right = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=left, src=x)
    nisa.dma_copy(dst=right, src=y)
    nisa.scalar_tensor_tensor(dst=right, data=left, op0=nl.multiply, operand0=alpha, op1=nl.add, operand1=right)
    nisa.dma_copy(dst=out, src=right)
    return out


def candidate(x, y, alpha):
    y.copy_(axpy(x.view(1, -1), y.view(1, -1), alpha).view(-1))
    return y
