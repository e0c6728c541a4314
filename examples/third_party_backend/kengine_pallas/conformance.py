"""The golden kernels in Pallas."""

from __future__ import annotations

from kengine.testing.golden import Golden

_ADD_TASK = """
import numpy as np

def reference(x, y):
    return x + y

def make_inputs(seed, device, rows=60, columns=40):
    draw = np.random.default_rng(seed)
    return tuple(draw.standard_normal((rows, columns)).astype(np.float32) for _ in range(2))
"""

_SOFTMAX_TASK = """
import numpy as np

def reference(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)

def make_inputs(seed, device, rows=20, columns=77):
    return (np.random.default_rng(seed).standard_normal((rows, columns)).astype(np.float32),)
"""

_ADD = """
import ctypes
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

def add(x, y, out):
    out[...] = x[...] + y[...]

def candidate(x, y):
    rows, columns = x.shape
    block = pl.BlockSpec((16, columns), lambda i: (i, 0))
    out = pl.pallas_call(
        add, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), grid=(pl.cdiv(rows, 16),),
        in_specs=[block, block], out_specs=block,
    )(x, y)
    return out
"""

_SOFTMAX = """
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

def softmax(x, out):
    e = jnp.exp(x[...] - jnp.max(x[...], axis=1, keepdims=True))
    out[...] = e / jnp.sum(e, axis=1, keepdims=True)

@jax.jit
def candidate(x):
    block = pl.BlockSpec((8, x.shape[1]), lambda i: (i, 0))
    return pl.pallas_call(
        softmax, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), grid=(pl.cdiv(x.shape[0], 8),),
        in_specs=[block], out_specs=block,
    )(x)
"""

_BODY = "    out[...] = x[...] + y[...]\n"

# It writes each time round: a loop without any effect would be left out.
_SPIN = """
    def spin(n):
        out[...] = x[...] + y[...]
        return 0 * n

    jax.lax.while_loop(lambda n: n >= 0, spin, 0)
"""

_POKE = "    ctypes.cast(x.unsafe_buffer_pointer(), ctypes.POINTER(ctypes.c_float))[0] = 0.5\n"


def _change(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new)


KERNELS = {
    "add_ok": Golden(_ADD, _ADD_TASK),
    "softmax_ok": Golden(_SOFTMAX, _SOFTMAX_TASK),
    "wrong_scale": Golden(_change(_SOFTMAX, "= e / jnp", "= 1.01 * e / jnp"), _SOFTMAX_TASK),
    "nan_output": Golden(_change(_ADD, "return out", "return out.at[7, 3].set(jnp.nan)"), _ADD_TASK),
    "out_of_bounds": Golden(
        _change(_ADD, _BODY, _BODY + "    out[0, :] = x[16 + pl.program_id(0), :]\n"), _ADD_TASK
    ),
    "hang": Golden(_change(_ADD, _BODY, _SPIN), _ADD_TASK),
    "compile_error": Golden(_change(_ADD, "x[...] + y[...]", "x[...] + y[:, :7]"), _ADD_TASK),
    # JAX arrays cannot be written to, but their address can be had.
    "mutates_input": Golden(_change(_ADD, "    return out", _POKE + "    return out"), _ADD_TASK),
    "empty_output": Golden(_change(_ADD, "return out", "return out[:0]"), _ADD_TASK),
}
"""Each name of the kit; most are the first two with one thing changed."""
