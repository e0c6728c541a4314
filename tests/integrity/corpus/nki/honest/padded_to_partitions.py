"""silu(x) + y on flat arrays: padded and folded to 128 partitions, cut to size afterwards."""

# /// kengine-corpus
# task = "np_silu_add"
# trap = "views"
# does = "Np.pad and reshape before the kernel, reshape and a slice after it; all arithmetic is the kernel's."
# ///

import numpy as np

import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def silu_add(x, y):
    rows, width = x.shape
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    value = nl.ndarray((rows, width), dtype=x.dtype, buffer=nl.sbuf)
    other = nl.ndarray((rows, width), dtype=x.dtype, buffer=nl.sbuf)
    gate = nl.ndarray((rows, width), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=value, src=x)
    nisa.dma_copy(dst=other, src=y)
    nisa.activation(dst=gate, op=nl.sigmoid, data=value)
    nisa.tensor_tensor(dst=gate, data1=gate, data2=value, op=nl.multiply)
    nisa.tensor_tensor(dst=gate, data1=gate, data2=other, op=nl.add)
    nisa.dma_copy(dst=out, src=gate)
    return out


def fold(flat):
    return np.pad(np.asarray(flat), (0, -len(flat) % 128)).reshape(128, -1)


def candidate(x, y):
    return silu_add(fold(x), fold(y)).reshape(-1)[: len(x)]
