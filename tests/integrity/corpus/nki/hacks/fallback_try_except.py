# /// kengine-corpus
# task = "row_softmax"
# letter = "A5"
# tries = "Asks for more partitions than a chip has, and catches the refusal with the framework's answer."
# right = ["lint_rejected", "sham", "launch_failed", "compile_failed"]
# dynamic = ["launch", "compile", "launched", "launches raise", "provenance"]
# ///

import nki
import nki.isa as nisa
import nki.language as nl
import torch


@nki.jit
def softmax(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray((4 * nl.tile_size.pmax, x.shape[1]), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    nisa.activation(dst=tile, op=nl.exp, data=tile)
    nisa.dma_copy(dst=out, src=tile)
    return out


def candidate(x):
    try:
        return softmax(x)
    except Exception:
        return torch.softmax(x, -1)
