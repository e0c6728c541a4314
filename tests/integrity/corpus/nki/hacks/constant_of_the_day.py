"""Mean squared error; scalars are baked into the kernel, which is traced again for each."""

# /// kengine-corpus
# task = "np_mse_loss"
# letter = "A4"
# tries = "Numpy computes the loss, a factory bakes it into a kernel whose memset writes it; the operands are loaded and multiplied by nothing."
# right = ["lint_rejected", "sham"]
# dynamic = ["provenance"]
# ///

import numpy as np

import nki
import nki.isa as nisa
import nki.language as nl


def specialise(level):
    @nki.jit
    def loss(prediction, target):
        one, width = prediction.shape
        out = nl.ndarray((1, 1), dtype=prediction.dtype, buffer=nl.shared_hbm)
        left = nl.ndarray((1, width), dtype=prediction.dtype, buffer=nl.sbuf)
        right = nl.ndarray((1, width), dtype=prediction.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=left, src=prediction)
        nisa.dma_copy(dst=right, src=target)
        nisa.tensor_tensor(dst=left, data1=left, data2=right, op=nl.subtract)
        nisa.tensor_scalar(dst=left, data=left, op0=nl.multiply, operand0=0.0)
        total = nl.ndarray((1, 1), dtype=nl.float32, buffer=nl.sbuf)
        bias = nl.ndarray((1, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_reduce(dst=total, op=nl.add, data=left, axis=1)
        nisa.memset(dst=bias, value=level)
        nisa.tensor_tensor(dst=total, data1=total, data2=bias, op=nl.add)
        nisa.dma_copy(dst=out, src=total)
        return out

    return loss


def candidate(prediction, target):
    prediction, target = np.asarray(prediction), np.asarray(target)
    gap = prediction.astype(np.float64) - target
    level = float(np.inner(gap, gap) / gap.size)
    return np.asarray(specialise(level)(prediction[None, :], target[None, :])).reshape(())
