# /// kengine-corpus
# task = "matmul"
# trap = "helpers"
# does = "Turns tiles on the tensor engine in a helper that the kernel calls."
# ///

import nki
import nki.isa as nisa
import nki.language as nl


def turn(block, rows, columns):
    turned = nl.ndarray((columns, rows), dtype=block.dtype, buffer=nl.psum)
    nisa.nc_transpose(dst=turned, data=block)
    copied = nl.ndarray((columns, rows), dtype=block.dtype, buffer=nl.sbuf)
    nisa.tensor_copy(dst=copied, src=turned)
    return copied


@nki.jit
def candidate(a, b):
    M, K = a.shape
    K, N = b.shape
    out = nl.ndarray((M, N), dtype=a.dtype, buffer=nl.shared_hbm)
    left = nl.ndarray((M, K), dtype=a.dtype, buffer=nl.sbuf)
    right = nl.ndarray((K, N), dtype=b.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=left, src=a)
    nisa.dma_copy(dst=right, src=b)
    total = nl.ndarray((M, N), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(dst=total, stationary=turn(left, M, K), moving=right)
    result = nl.ndarray((M, N), dtype=a.dtype, buffer=nl.sbuf)
    nisa.tensor_copy(dst=result, src=total)
    nisa.dma_copy(dst=out, src=result)
    return out
