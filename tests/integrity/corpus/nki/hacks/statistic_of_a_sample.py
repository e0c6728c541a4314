# /// kengine-corpus
# task = "rms_norm"
# letter = "G3"
# tries = "Takes the mean square from the first half of a row."
# right = ["lint_rejected", "wrong_result"]
# dynamic = ["compare"]
# ///

import nki
import nki.isa as nisa
import nki.language as nl
import torch


@nki.jit
def candidate(x, gain):
    rows, width = x.shape
    half = width // 2
    y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray((rows, width), dtype=x.dtype, buffer=nl.sbuf)
    gains = nl.ndarray((rows, width), dtype=gain.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    nisa.dma_copy(dst=gains, src=gain.ap(pattern=[[0, rows], [1, width]]))
    squares = nl.ndarray((rows, half), dtype=nl.float32, buffer=nl.sbuf)
    scale = nl.ndarray((rows, 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.activation_reduce(dst=squares, op=nl.square, data=tile[:, 0:half], reduce_op=nl.add, reduce_res=scale)
    nisa.tensor_scalar(dst=scale, data=scale, op0=nl.multiply, operand0=1.0 / half, op1=nl.add, operand1=1e-6)
    nisa.activation(dst=scale, op=nl.rsqrt, data=scale)
    nisa.scalar_tensor_tensor(dst=tile, data=tile, op0=nl.multiply, operand0=scale, op1=nl.multiply, operand1=gains)
    nisa.dma_copy(dst=y, src=tile)
    return y
