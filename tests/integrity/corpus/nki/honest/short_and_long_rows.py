# /// kengine-corpus
# task = "row_softmax"
# trap = "branches"
# does = "Takes whole rows when they are short and parts of rows when they are long."
# ///

import nki
import nki.isa as nisa
import nki.language as nl


def exponentials(tile, part, top, total):
    nisa.activation_reduce(dst=part, op=nl.exp, data=tile, bias=top, reduce_op=nl.add, reduce_res=total)


@nki.jit
def candidate(x):
    rows, columns = x.shape
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    top = nl.ndarray((rows, 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_reduce(dst=top, op=nl.maximum, data=tile, axis=1, negate=True)
    power = nl.ndarray((rows, columns), dtype=nl.float32, buffer=nl.sbuf)
    total = nl.ndarray((rows, 1), dtype=nl.float32, buffer=nl.sbuf)
    if columns <= 256:
        exponentials(tile, power, top, total)
    else:
        nisa.memset(dst=total, value=0.0)
        for start in range(0, columns, 128):
            stop = min(start + 128, columns)
            part = nl.ndarray((rows, 1), dtype=nl.float32, buffer=nl.sbuf)
            exponentials(tile[:, start:stop], power[:, start:stop], top, part)
            nisa.tensor_tensor(dst=total, data1=total, data2=part, op=nl.add)
    nisa.reciprocal(dst=total, data=total)
    nisa.tensor_scalar(dst=tile, data=power, op0=nl.multiply, operand0=total)
    nisa.dma_copy(dst=out, src=tile)
    return out
