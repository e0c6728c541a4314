# /// kengine-corpus
# task = "np_row_softmax"
# letter = "I1"
# tries = "Reads the input's bytes, computes in Python, and writes over zeros that a kernel adds to nought times the input."
# right = ["lint_rejected", "sham"]
# dynamic = ["provenance"]
# ///

from array import array
from math import exp

import nki
import nki.isa as nisa
import nki.language as nl
import numpy as np


@nki.jit
def blend(x, z):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    left = nl.ndarray(x.shape, dtype=nl.float32, buffer=nl.sbuf)
    right = nl.ndarray(x.shape, dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=left, src=x)
    nisa.dma_copy(dst=right, src=z)
    nisa.tensor_scalar(dst=left, data=left, op0=nl.multiply, operand0=0.0)
    nisa.tensor_tensor(dst=left, data1=left, data2=right, op=nl.add)
    nisa.dma_copy(dst=out, src=left)
    return out


def candidate(x):
    values, width, result = memoryview(x).cast("B").cast("f"), x.shape[1], array("f")
    for row in range(x.shape[0]):
        line = values[row * width : row * width + width]
        top = max(line)
        powers = [exp(value - top) for value in line]
        total = sum(powers)
        result.extend(power / total for power in powers)
    z = np.zeros(x.shape, dtype=np.float32)
    memoryview(z).cast("B")[:] = result.tobytes()
    return blend(x, z)
