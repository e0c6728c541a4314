"""Warming up in the zygote: imports, and one small kernel of each generation, so that every fork has them."""

from __future__ import annotations

from typing import Any

from kengine.model import Target

_NEW = """
import nki
import nki.isa as nisa
import nki.language as nl

@nki.jit
def twice(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    nisa.tensor_tensor(dst=tile, data1=tile, data2=tile, op=nl.add)
    nisa.dma_copy(dst=out, src=tile)
    return out
"""

_OLD = """
import neuronxcc.nki as nki
import neuronxcc.nki.language as nl

@nki.jit
def twice(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    row, column = nl.mgrid[0:x.shape[0], 0:x.shape[1]]
    tile = nl.load(x[row, column])
    nl.store(out[row, column], value=tile + tile)
    return out
"""


def warm_up(target: Target) -> bool:
    """Import what runners of a target use; the Neuron packages themselves are left to the runner."""
    import numpy as np
    from kengine.runner import state, watch

    watch.trust("nki", "neuronxcc")
    if target.arch != "sim":
        return True
    from kengine_nki import compile, faults, interpreter, launch, settings, sim  # noqa: F401
    from kengine_nki.sim import loader

    x: Any = np.ones((4, 8), np.float32)
    with sim.session():
        for name, text in (("new", _NEW), ("old", _OLD)):
            made = sim.load(text, f"<warm {name}>").twice(x)
            assert float(made[3, 7]) == 2.0
    for name, module in loader.modules().items():
        state.register(name, module)
    return True
