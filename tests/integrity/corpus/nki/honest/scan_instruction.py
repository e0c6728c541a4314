# /// kengine-corpus
# task = "prefix_sum"
# trap = "several kernels"
# does = "Scans a row in two parts, the second from the last sum of the first."
# ///

import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def candidate(x):
    rows, columns = x.shape
    half = columns // 2
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    carry = nl.ndarray((rows, 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.memset(dst=carry, value=0.0)
    for start, size in ((0, half), (half, columns - half)):
        ones = nl.ndarray((rows, size), dtype=nl.float32, buffer=nl.sbuf)
        nisa.memset(dst=ones, value=1.0)
        tile = nl.ndarray((rows, size), dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[:, start : start + size])
        sums = nl.ndarray((rows, size), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_tensor_scan(dst=sums, data0=ones, data1=tile, initial=carry, op0=nl.multiply, op1=nl.add)
        nisa.tensor_copy(dst=carry, src=sums[:, size - 1 : size])
        nisa.dma_copy(dst=out[:, start : start + size], src=sums)
    return out
