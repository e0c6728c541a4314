# /// kengine-corpus
# task = "row_softmax"
# trap = "imports"
# does = "Imports what it can, reads a tuning knob of the environment, and checks its argument."
# ///

import os

import nki
import nki.isa as nisa
import nki.language as nl

try:
    import neuronx_distributed  # noqa: F401
except ImportError:
    pass

STEP = min(128, int(os.environ.get("SOFTMAX_ROWS", "64")))


@nki.jit
def softmax(x):
    rows, columns = x.shape
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for start in range(0, rows, STEP):
        count = min(STEP, rows - start)
        tile = nl.ndarray((count, columns), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[start : start + count, :])
        top = nl.ndarray((count, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_reduce(dst=top, op=nl.maximum, data=tile, axis=1, negate=True)
        power = nl.ndarray((count, columns), dtype=nl.float32, buffer=nl.sbuf)
        total = nl.ndarray((count, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.activation_reduce(dst=power, op=nl.exp, data=tile, bias=top, reduce_op=nl.add, reduce_res=total)
        nisa.reciprocal(dst=total, data=total)
        nisa.tensor_scalar(dst=tile, data=power, op0=nl.multiply, operand0=total)
        nisa.dma_copy(dst=out[start : start + count, :], src=tile)
    return out


def candidate(x):
    if x.dim() != 2:
        raise ValueError(f"want a matrix, got {tuple(x.shape)}")
    assert x.is_contiguous()
    return softmax(x)
