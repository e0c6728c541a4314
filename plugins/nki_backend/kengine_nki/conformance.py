"""The golden kernels in NKI, of the new generation."""

from __future__ import annotations

from kengine.testing.golden import Golden

_ADD_TASK = """
import numpy as np

def reference(x, y):
    return x + y

def make_inputs(seed, device, rows=300, columns=40):
    draw = np.random.default_rng(seed)
    return tuple(draw.standard_normal((rows, columns)).astype(np.float32) for _ in range(2))
"""

_SOFTMAX_TASK = """
import numpy as np

def reference(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)

def make_inputs(seed, device, rows=140, columns=77):
    return (np.random.default_rng(seed).standard_normal((rows, columns)).astype(np.float32),)
"""

_ADD = """
import nki
import nki.isa as nisa
import nki.language as nl

@nki.jit
def add(x, y):
    rows, columns = x.shape
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for start in range(0, rows, 128):
        stop = min(start + 128, rows)
        a = nl.ndarray((stop - start, columns), dtype=x.dtype, buffer=nl.sbuf)
        b = nl.ndarray((stop - start, columns), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=a, src=x[start:stop, :])
        nisa.dma_copy(dst=b, src=y[start:stop, :])
        nisa.tensor_tensor(dst=a, data1=a, data2=b, op=nl.add)
        nisa.dma_copy(dst=out[start:stop, :], src=a)
    return out

def candidate(x, y):
    return add(x, y)
"""

_SOFTMAX = """
import nki
import nki.isa as nisa
import nki.language as nl

@nki.jit
def softmax(x):
    rows, columns = x.shape
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for start in range(0, rows, 128):
        stop = min(start + 128, rows)
        shape = (stop - start, columns)
        tile = nl.ndarray(shape, dtype=x.dtype, buffer=nl.sbuf)
        power = nl.ndarray(shape, dtype=nl.float32, buffer=nl.sbuf)
        top = nl.ndarray((stop - start, 1), dtype=nl.float32, buffer=nl.sbuf)
        total = nl.ndarray((stop - start, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[start:stop, :])
        nisa.tensor_reduce(dst=top, op=nl.maximum, data=tile, axis=1, negate=True)
        nisa.activation_reduce(dst=power, op=nl.exp, data=tile, bias=top, reduce_op=nl.add, reduce_res=total)
        nisa.reciprocal(dst=total, data=total)
        nisa.tensor_scalar(dst=tile, data=power, op0=nl.multiply, operand0=total)
        nisa.dma_copy(dst=out[start:stop, :], src=tile)
    return out

def candidate(x):
    return softmax(x)
"""


def _change(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new)


KERNELS = {
    "add_ok": Golden(_ADD, _ADD_TASK),
    "softmax_ok": Golden(_SOFTMAX, _SOFTMAX_TASK),
    "wrong_scale": Golden(_change(_SOFTMAX, "op0=nl.multiply, operand0=total",
                                  "op0=nl.multiply, operand0=total, op1=nl.multiply, operand1=1.01"), _SOFTMAX_TASK),
    "nan_output": Golden(_change(_ADD, "    return add(x, y)", "    out = add(x, y)\n    out[7, 3] = float('nan')\n"
                                 "    return out"), _ADD_TASK),
    "out_of_bounds": Golden(_change(_ADD, "stop = min(start + 128, rows)", "stop = start + 128"), _ADD_TASK),
    "hang": Golden(_change(_ADD, "        nisa.tensor_tensor", "        while True:\n            "
                           "nisa.tensor_copy(dst=a, src=b)\n        nisa.tensor_tensor"), _ADD_TASK),
    "compile_error": Golden(_change(_ADD, "nisa.tensor_tensor(dst=a,", "nisa.tensor_tensor(out=a,"), _ADD_TASK),
    "mutates_input": Golden(_change(_ADD, "    return out\n\ndef", "    nisa.dma_copy(dst=x[0:128, :], "
                                    "src=out[0:128, :])\n    return out\n\ndef"), _ADD_TASK),
    "empty_output": Golden(_change(_ADD, "return add(x, y)", "return add(x, y)[:0]"), _ADD_TASK),
}  # fmt: skip
"""Each name of the kit; most are the first two with one thing changed."""
