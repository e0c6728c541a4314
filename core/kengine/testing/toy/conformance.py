"""The golden kernels in the toy language."""

from __future__ import annotations

from kengine.testing.golden import Golden

_ADD_TASK = """
import numpy as np

def reference(x, y):
    return x + y

def make_inputs(seed, device, rows=300):
    draw = np.random.default_rng(seed)
    return tuple(draw.standard_normal(rows).astype(np.float32) for _ in range(2))
"""

_SOFTMAX_TASK = """
import numpy as np

def reference(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)

def make_inputs(seed, device, rows=9, columns=77):
    return (np.random.default_rng(seed).standard_normal((rows, columns)).astype(np.float32),)
"""

_ADD = """
import numpy as np
from kengine.testing import toy

@toy.kernel
def add(program, x, y, out):
    rows = slice(program * 64, min(program * 64 + 64, len(out)))
    out[rows] = x[rows] + y[rows]

def candidate(x, y):
    out = np.empty_like(x)
    add[-(-len(x) // 64)](x, y, out)
    return out
"""

_SOFTMAX = """
import numpy as np
from kengine.testing import toy

@toy.kernel
def softmax(program, x, out):
    e = np.exp(x[program] - x[program].max())
    out[program] = e / e.sum()

def candidate(x):
    out = np.empty_like(x)
    softmax[len(x)](x, out)
    return out
"""


def _change(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new)


KERNELS = {
    "add_ok": Golden(_ADD, _ADD_TASK),
    "softmax_ok": Golden(_SOFTMAX, _SOFTMAX_TASK),
    "wrong_scale": Golden(_change(_SOFTMAX, "e / e.sum()", "1.01 * e / e.sum()"), _SOFTMAX_TASK),
    "nan_output": Golden(_change(_ADD, "    return out", "    out[7] = np.nan\n    return out"), _ADD_TASK),
    "out_of_bounds": Golden(_change(_ADD, "min(program * 64 + 64, len(out))", "program * 64 + 64"), _ADD_TASK),
    "hang": Golden(_change(_ADD, "    rows", "    while True:\n        pass\n    rows"), _ADD_TASK),
    "compile_error": Golden(_change(_ADD, "out[rows] =", "out[rows] = ="), _ADD_TASK),
    "mutates_input": Golden(_change(_ADD, "    out[rows] = x[rows] + y[rows]",
                                    "    out[rows] = x[rows] + y[rows]\n    x[0] = 0.5"), _ADD_TASK),
    "empty_output": Golden(_change(_ADD, "return out", "return out[:0]"), _ADD_TASK),
}  # fmt: skip
"""Each name of the kit; most are the first two with one thing changed."""
