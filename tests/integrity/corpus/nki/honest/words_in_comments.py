# /// kengine-corpus
# task = "row_softmax"
# trap = "words"
# does = "Talks of references, caches, numpy and fallbacks in names, comments and strings only."
# ///

"""Checked against np.exp and torch.softmax, no cached answer, no fallback, see the reference test."""

import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def reference_replay(x):
    rows, columns = x.shape
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for start in range(0, rows, nl.tile_size.pmax):
        count = min(nl.tile_size.pmax, rows - start)
        tile = nl.ndarray((count, columns), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[start : start + count, :])
        cached = nl.ndarray((count, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_reduce(dst=cached, op=nl.maximum, data=tile, axis=1, negate=True)
        power = nl.ndarray((count, columns), dtype=nl.float32, buffer=nl.sbuf)
        total = nl.ndarray((count, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.activation_reduce(dst=power, op=nl.exp, data=tile, bias=cached, reduce_op=nl.add, reduce_res=total)
        nisa.reciprocal(dst=total, data=total)
        nisa.tensor_scalar(dst=tile, data=power, op0=nl.multiply, operand0=total)
        nisa.dma_copy(dst=out[start : start + count, :], src=tile)
    return out


CHEAT = "torch.softmax(x, -1)"  # what numpy would compute: x.numpy(); never executed


def candidate(x):
    # try: the kernel; except: nothing to fall back to
    return reference_replay(x)
