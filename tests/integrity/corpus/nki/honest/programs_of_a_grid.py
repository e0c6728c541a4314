# /// kengine-corpus
# task = "silu_add"
# trap = "queries"
# does = "Asks for its program and works on that share, on a grid of two."
# ///

import neuronxcc.nki as nki
import neuronxcc.nki.language as nl
import torch


@nki.jit
def silu_add(x, y):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    half = x.shape[0] // nl.num_programs(0)
    p = nl.program_id(0) * half + nl.arange(half)[:, None]
    f = nl.arange(x.shape[1])[None, :]
    tile = nl.load(x[p, f])
    nl.store(out[p, f], value=nl.add(nl.multiply(tile, nl.sigmoid(tile)), nl.load(y[p, f])))
    return out


def candidate(x, y):
    n = x.numel()
    columns = -(-n // 64)
    padded = torch.zeros(2, 64 * columns)
    padded[0, :n], padded[1, :n] = x, y
    return silu_add[2](*padded.view(2, 64, columns)).reshape(-1)[:n].clone()
