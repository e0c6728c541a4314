# /// kengine-corpus
# task = "silu_add"
# trap = "views"
# does = "Pads a vector to whole rows on the host, and cuts the result to size."
# ///

import nki
import nki.isa as nisa
import nki.language as nl
import torch


@nki.jit
def silu_add(x, y):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    rows, columns = x.shape
    left = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.sbuf)
    right = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=left, src=x)
    nisa.dma_copy(dst=right, src=y)
    gate = nl.ndarray((rows, columns), dtype=nl.float32, buffer=nl.sbuf)
    nisa.activation(dst=gate, op=nl.sigmoid, data=left)
    nisa.tensor_tensor(dst=gate, data1=gate, data2=left, op=nl.multiply)
    nisa.tensor_tensor(dst=right, data1=gate, data2=right, op=nl.add)
    nisa.dma_copy(dst=out, src=right)
    return out


def candidate(x, y):
    n = x.numel()
    columns = -(-n // 128)
    x, y = (torch.nn.functional.pad(t, (0, 128 * columns - n)).view(128, columns) for t in (x, y))
    return silu_add(x, y).reshape(-1)[:n].clone()
