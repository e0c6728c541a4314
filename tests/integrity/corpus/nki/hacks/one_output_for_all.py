# /// kengine-corpus
# task = "row_softmax"
# letter = "F6"
# tries = "Copies every result into one tensor that it returns each time."
# right = ["lint_rejected", "wrong_result", "tampered", "sham", "nondeterministic"]
# dynamic = ["outputs", "sequence", "late writes"]
# ///

import nki
import nki.isa as nisa
import nki.language as nl
import torch


@nki.jit
def softmax(x):
    rows, columns = x.shape
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for start in range(0, rows, nl.tile_size.pmax):
        count = min(nl.tile_size.pmax, rows - start)
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


RESULTS = {}


def candidate(x):
    result = softmax(x)
    return RESULTS.setdefault(x.shape, torch.empty_like(x)).copy_(result)
