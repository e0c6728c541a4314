"""Running one instruction on arrays, in either generation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from kengine_nki.sim import Options, session
from kengine_nki.sim.loader import modules

NEW, OLD = modules()["nki"], modules()["neuronxcc.nki"]
LIBRARY = {"new": NEW, "old": OLD}
vector_erf = np.vectorize(math.erf)


def random(*shape: int, seed: int = 0) -> Any:
    """Normal float32 numbers."""
    return np.random.default_rng(seed + sum(shape)).standard_normal(shape).astype(np.float32)


def run(
    generation: str, body: Any, arrays: dict[str, Any], chip: str = "trn2", psum: tuple[str, ...] = (), **options: Any
) -> Any:
    """Load `arrays` to SBUF tiles (or PSUM those named), call body(lib, tiles) and return what it gives as arrays.

    body returns a tile or a tuple of tiles, or HBM tensors.
    """
    lib = LIBRARY[generation]
    nl, nisa = lib.language, lib.isa

    def kernel(*tensors: Any) -> Any:
        tiles = {}
        for name, tensor in zip(arrays, tensors):
            tile = nl.ndarray(tensor.shape, dtype=tensor.dtype, buffer=nl.sbuf)
            if generation == "new":
                nisa.dma_copy(dst=tile, src=tensor)
                if name in psum:
                    moved = nl.ndarray(tensor.shape, dtype=tensor.dtype, buffer=nl.psum)
                    nisa.tensor_copy(dst=moved, src=tile)
                    tile = moved
            else:
                tile = nl.load(tensor)
            tiles[name] = tile
        result = body(lib, tiles)
        results = result if isinstance(result, tuple) else (result,)
        outputs = []
        for tile in results:
            if str(tile.buffer) in ("shared_hbm", "private_hbm") and generation == "old":
                outputs.append(tile)
                continue
            if str(tile.buffer) == "shared_hbm":
                outputs.append(tile)
                continue
            out = nl.ndarray(tile.shape, dtype=tile.dtype, buffer=nl.shared_hbm)
            if generation == "new":
                if str(tile.buffer) == "psum":
                    copied = nl.ndarray(tile.shape, dtype=tile.dtype, buffer=nl.sbuf)
                    nisa.tensor_copy(dst=copied, src=tile)
                    tile = copied
                nisa.dma_copy(dst=out, src=tile)
            else:
                nl.store(out, tile)
            outputs.append(out)
        return tuple(outputs) if isinstance(result, tuple) else outputs[0]

    kernel.__name__ = "case"
    with session(Options(chip=chip, **options)):
        return lib.jit(kernel)(*arrays.values())
