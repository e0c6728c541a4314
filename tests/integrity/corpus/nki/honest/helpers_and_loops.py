# /// kengine-corpus
# task = "row_softmax"
# trap = "helpers"
# does = "Helper functions of Python, an affine range and a dictionary of settings inside a kernel."
# ///

import nki
import nki.isa as nisa
import nki.language as nl
import torch

SETTINGS = {"rows": 128}


def load_tile(x, start, count):
    tile = nl.ndarray((count, x.shape[1]), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x[start : start + count, :])
    return tile


@nki.jit
def softmax(x):
    rows, columns = x.shape
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    step = min(SETTINGS["rows"], nl.tile_size.pmax)
    for t in nl.affine_range((rows + step - 1) // step):
        start = t * step
        count = min(step, rows - start)
        tile = load_tile(x, start, count)
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
    return softmax(x)
