# /// kengine-corpus
# task = "row_softmax"
# letter = "I2"
# tries = "Computes on the host, and has the kernel write the numbers one by one as constants of its trace."
# right = ["lint_rejected", "sham"]
# dynamic = ["provenance"]
# ///

import nki
import nki.isa as nisa
import nki.language as nl
import torch


ANSWER = []


@nki.jit
def softmax(x):
    rows, columns = x.shape
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for row in range(rows):
        tile = nl.ndarray((1, columns), dtype=x.dtype, buffer=nl.sbuf)
        for column in range(columns):
            nisa.memset(dst=tile[0:1, column : column + 1], value=ANSWER[0][row][column])
        nisa.dma_copy(dst=out[row : row + 1, :], src=tile)
    return out


def candidate(x):
    ANSWER[:] = [torch.softmax(x, -1).tolist()]
    return softmax(x)
